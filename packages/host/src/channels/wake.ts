import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { Damaged } from '../log/rebuild.ts'
import { sleepWhenIdle } from './sleep.ts'
import { needsRows } from './snapshot.ts'
import type { View } from './snapshot.ts'

/**
 * Returns a channel that is in memory, its creation committed, with the rows that a view needs, if one is given. Throws an
 * `AhpError` if the stored channel is damaged.
 */
export async function wake(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  for (;;) {
    const channel = await trusted(core, () => wakeAlone(core, uri))
    if (!channel || !view) return channel
    await loadRowsFor(core, channel, view)
    // The channel may have been dropped, or may sleep again, by the time its rows are read.
    if (core.log.channel(uri) === channel) return channel
  }
}

/** The same, but returns undefined for a damaged channel. */
export async function wakeIfSound(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  return wake(core, uri, view).catch(unlessUnsound)
}

/** Turns an `AhpError`, such as a missing or damaged channel, into undefined, and rethrows any other error. */
export function unlessUnsound(error: unknown): undefined {
  if (!(error instanceof AhpError)) throw error
}

/** Loads the rows that a snapshot shows, and few more: a snapshot has a maximum length. */
export async function loadRowsFor(core: Core, channel: Channel, view: View = {}): Promise<void> {
  const { turns = Infinity } = view
  for (let batch = firstBatch; needsRows(core, channel, view); batch *= 2) {
    // An action that removes all rows is not committed yet. Once it is, there are no rows to read.
    if (channel.olderRows === 0) {
      if (!(await core.log.settled())) return
      await core.log.reached(channel.lastEmptied)
      continue
    }
    const lacking = turns - channel.rows(channel.committed).length
    const from = channel.rowIds.at(Math.max(0, channel.olderRows - Math.min(batch, lacking)))
    await trusted(core, () => core.log.loadRows(channel, from))
    if (core.log.channel(channel.uri) !== channel) return
  }
}

/** Number of rows in the first batch; each next batch has twice as many. */
const firstBatch = 256

/** Wakes a chat's session first: from then on the chat keeps the session in memory. */
async function wakeAlone(core: Core, uri: Uri): Promise<Channel | undefined> {
  const session = core.catalog.sessionOf(uri)
  if (session !== undefined) await wakeOne(core, session)
  return wakeOne(core, uri)
}

/** Schedules a sleep check as well, because the caller may never subscribe. */
async function wakeOne(core: Core, uri: Uri): Promise<Channel | undefined> {
  // The channel may have been created while the store was asked for it.
  const channel = (await core.log.wake(uri)) ?? core.log.channel(uri)
  if (channel) {
    sleepWhenIdle(core, channel)
    await core.log.when(channel, () => true)
  }
  // The session list and the log change in one step. If only one has the channel, the other is damaged.
  else if (core.catalog.get(uri) ?? core.catalog.sessionOf(uri))
    throw new Damaged(`${uri} is listed and not in the store`)
  return channel
}

/** Reads from the store. Damage is reported, and becomes an error that the client may see. */
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

/** The same, but returns the reason as text instead of throwing it. */
export async function damageOf(core: Core, read: () => Promise<void>): Promise<string | undefined> {
  try {
    await trusted(core, read)
    return undefined
  } catch (error) {
    if (error instanceof AhpError) return error.message
    throw error
  }
}
