import { catalogOf } from '../catalog/catalog.ts'
import { customizationsOf } from '../catalog/customizing.ts'
import { changesOf } from '../catalog/change-tracking.ts'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'
import { Damaged } from '../kernel/log/rebuild.ts'
import { annotatedSession, hasAnnotations, openAnnotations } from './annotations-channel.ts'
import { sleepWhenIdle } from './sleep.ts'
import { makeShownForms, needsShownForms } from './oversized.ts'
import { needsRows } from './snapshot.ts'
import type { View } from '../kernel/link.ts'

/**
 * Returns the channel of a URI, loaded into memory and with its creation committed. If a view is given, the finished
 * turns that it needs are loaded, too. Undefined if there is no such channel. Throws an `AhpError` if the stored
 * channel is damaged.
 */
export async function wake(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  for (;;) {
    const channel = await trusted(core, () => wakeAlone(core, uri))
    if (!channel || !view) return channel
    await loadRowsFor(core, channel, view)
    // While the turns were read, the channel may have been removed or may have left memory again.
    if (core.log.channel(uri) === channel) return channel
  }
}

/** Does the same as `wake`, but returns undefined for a damaged channel. */
export async function wakeIfSound(core: Core, uri: Uri, view?: View): Promise<Channel | undefined> {
  return wake(core, uri, view).catch(unlessUnsound)
}

/**
 * For `catch`: returns undefined for an `AhpError`, such as that of a missing or damaged channel, and rethrows any other
 * error.
 */
export function unlessUnsound(error: unknown): undefined {
  if (!(error instanceof AhpError)) throw error
}

/**
 * Loads the finished turns of a chat (its rows) that a snapshot shows, and not many more. A snapshot has a maximum
 * length, so the turns are loaded in batches until it is reached.
 */
export async function loadRowsFor(core: Core, channel: Channel, view: View = {}): Promise<void> {
  try {
    await loadMissingRows(core, channel, view)
  } finally {
    if (needsShownForms(core, channel)) await makeShownForms(core, channel)
  }
}

async function loadMissingRows(core: Core, channel: Channel, view: View): Promise<void> {
  const { turns = Infinity } = view
  for (let batch = firstBatch; needsRows(core, channel, view); batch *= 2) {
    // There are committed turns to read, but an uncommitted action has removed them all. Waits until it is committed.
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

/** The number of finished turns in the first batch; each next batch has twice as many. */
const firstBatch = 256

/**
 * Loads a channel into memory. The session of a chat, or of annotations, is loaded first, and stays in memory as long
 * as the chat or the annotations do. The channel of annotations is created when it is first asked for.
 */
async function wakeAlone(core: Core, uri: Uri): Promise<Channel | undefined> {
  const annotated = annotatedSession(core, uri)
  const session = catalogOf(core).sessionOf(uri) ?? annotated
  if (session !== undefined) await wakeOne(core, session)
  const found = await wakeOne(core, uri)
  if (found || annotated === undefined) return found
  return openAnnotations(core, uri) ? wakeOne(core, uri) : undefined
}

/**
 * Loads one channel into memory. Schedules a check that removes it from memory if it is unused then, because the
 * caller may never subscribe to the channel.
 */
async function wakeOne(core: Core, uri: Uri): Promise<Channel | undefined> {
  // The channel may have been created while it was looked up, in the store or among the changesets.
  const channel =
    (await core.log.wake(uri)) ??
    core.log.channel(uri) ??
    (await changesOf(core)?.create(uri)) ??
    core.log.channel(uri)
  if (channel) {
    sleepWhenIdle(core, channel)
    await core.log.when(channel, () => true)
    if (channel.is('session')) customizationsOf(core)?.seen(uri)
  }
  // The session list and the log change in the same transaction. If the session list has the channel and the log does
  // not, the log is damaged.
  else if (catalogOf(core).get(uri) ?? catalogOf(core).sessionOf(uri) ?? hasAnnotations(core, uri))
    throw new Damaged(`${uri} is listed and not in the store`)
  return channel
}

/** Reads from the store. Reports damage, and throws it as an `AhpError` whose message the client may see. */
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

/** Does the same as `trusted`, but returns the message of the error instead of throwing it. */
export async function damageOf(core: Core, read: () => Promise<void>): Promise<string | undefined> {
  try {
    await trusted(core, read)
    return undefined
  } catch (error) {
    if (error instanceof AhpError) return error.message
    throw error
  }
}

/** Loads a chat. Throws if there is none; `name` is its name in the client's version. */
export async function chatNamed(core: Core, uri: Uri, name: Uri): Promise<Channel<'chat'>> {
  const chat = await wake(core, uri)
  if (!chat?.is('chat')) throw AhpError.notFound(`no chat ${JSON.stringify(name.slice(0, 200))}`)
  return chat
}
