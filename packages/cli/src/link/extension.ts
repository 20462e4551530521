import type { Client } from '@atrium/client/client'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { rootUri } from '@atrium/protocol/uri'
import { CommandError, exits } from '../terminal/exit.ts'

/** Sends a request that AHP does not have, so nothing is known of its result. */
export async function askExtension(client: Client, method: string, params: object): Promise<unknown> {
  try {
    return await client.ask(method, { channel: rootUri, ...params })
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    if (error.code === errorCodes.MethodNotFound)
      throw new CommandError('This host does not offer this: its version is older, or it is read-only.')
    const denied = error.code === errorCodes.PermissionDenied ? exits.denied : exits.error
    throw new CommandError(/[.!?]$/.test(error.message) ? error.message : `${error.message}.`, denied)
  }
}
