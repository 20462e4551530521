import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import type { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { Damaged } from './rebuild.ts'

/** A channel that can be shown: awake, and its birth told. What cannot be trusted is said to be so. */
export async function wake(core: Core, uri: Uri): Promise<Channel | undefined> {
  return trusted(core, async () => {
    // An awake chat keeps its session awake.
    const session = core.catalog.sessionOf(uri)
    if (session !== undefined) await core.log.wake(session)
    // It may have been born while the answer that there is none was on its way.
    const channel = (await core.log.wake(uri)) ?? core.log.channel(uri)
    // The list and the log change together: if only one has it, the other was hurt.
    if (!channel && (core.catalog.get(uri) ?? core.catalog.sessionOf(uri)))
      throw new Damaged(`${uri} is listed and not in the store`)
    if (channel) await core.log.when(channel, () => true)
    return channel
  })
}

/** The same, where a channel that is set aside is as good as none. */
export async function wakeIfSound(core: Core, uri: Uri): Promise<Channel | undefined> {
  return wake(core, uri).catch((error: unknown) => {
    if (error instanceof AhpError) return undefined
    throw error
  })
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
