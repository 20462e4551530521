import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { Damaged } from '../log/rebuild.ts'
import { sleepWhenIdle } from './sleep.ts'
import { needsRows } from './snapshot.ts'
import type { View } from './snapshot.ts'

/**
 * A channel that can be shown: awake, its birth told, and with as many rows in memory as a view asks for, if one is given.
 * What cannot be trusted is said to be so.
 */
export async function wake(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  for (;;) {
    const channel = await trusted(core, () => wakeAlone(core, uri))
    if (!channel || !view) return channel
    await loadRowsFor(core, channel, view)
    // It may have gone, or fallen asleep, while its rows were read.
    if (core.log.channel(uri) === channel) return channel
  }
}

/** The same, where a channel that is set aside is as good as none. */
export async function wakeIfSound(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  return wake(core, uri, view).catch(unlessUnsound)
}

/** What is not there, or is set aside, is nothing; any other failure stays one. */
export function unlessUnsound(error: unknown): undefined {
  if (!(error instanceof AhpError)) throw error
}

/** Brings into memory what a snapshot shows, and not much more: one of a whole chat may have to be cut. */
export async function loadRowsFor(core: Core, channel: Channel, view: View = {}): Promise<void> {
  const { turns = Infinity } = view
  for (let step = firstBatch; needsRows(core, channel, view); step *= 2) {
    // All rows are being taken away, those on the disk among them: once that is told there are none to be read.
    if (channel.olderRows === 0) {
      if (!(await core.log.settled())) return
      await core.log.reached(channel.lastEmptied)
      continue
    }
    const lacking = turns - channel.rows(channel.committed).length
    const from = channel.rowIds.at(Math.max(0, channel.olderRows - Math.min(step, lacking)))
    await trusted(core, () => core.log.loadRows(channel, from))
    if (core.log.channel(channel.uri) !== channel) return
  }
}

/** So many rows at first, and then twice as many each time. */
const firstBatch = 256

/** A chat keeps its session awake from the moment it is being woken. */
async function wakeAlone(core: Core, uri: Uri): Promise<Channel | undefined> {
  const session = core.catalog.sessionOf(uri)
  if (session !== undefined) await wakeOne(core, session)
  return wakeOne(core, uri)
}

/** Whoever wakes something may never follow it: so it is looked at again whether anybody does. */
async function wakeOne(core: Core, uri: Uri): Promise<Channel | undefined> {
  // It may have been born while the answer that there is none was on its way.
  const channel = (await core.log.wake(uri)) ?? core.log.channel(uri)
  if (channel) {
    sleepWhenIdle(core, channel)
    await core.log.when(channel, () => true)
  }
  // The list and the log change together: if only one has it, the other was hurt.
  else if (core.catalog.get(uri) ?? core.catalog.sessionOf(uri))
    throw new Damaged(`${uri} is listed and not in the store`)
  return channel
}

/** Reads from the store. Whoever asked is told what turns out to be damaged, in words that are meant for it. */
export async function trusted<T>(core: Core, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    core.world.report('damaged channel', error.message)
    throw new AhpError(
      errorCodes.InternalError,
      `${error.message}; it is set aside, and nothing of it was deleted`,
    )
  }
}

/** The same, where whoever asked is refused: why, if it could not be read. */
export async function damageOf(core: Core, read: () => Promise<void>): Promise<string | undefined> {
  try {
    await trusted(core, read)
    return undefined
  } catch (error) {
    if (error instanceof AhpError) return error.message
    throw error
  }
}
