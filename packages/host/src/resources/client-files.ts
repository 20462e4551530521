import type { Uri } from '@atrium/protocol/channel'
import type { ClientMethod, Params, Result } from '@atrium/protocol/commands'
import { commands } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import type { Core, Link } from '../core/core.ts'

export function isFile(uri: Uri): boolean {
  return /^file:/i.test(uri)
}

/** The URIs in what a client says that are its own: every `uri` that names neither a file nor anything of the host's. */
export function clientUris(said: unknown): readonly Uri[] {
  const found: Uri[] = []
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { uri } = value as { uri?: unknown }
    if (typeof uri === 'string' && !isFile(uri) && !uri.startsWith('ahp-')) found.push(uri)
    for (const each of Object.values(value)) look(each)
  }
  look(said)
  return found
}

/** Whoever wants it: a link, or an agent that works for a principal. */
export type ClientRequest = Pick<Link, 'principal'>

/** Asks the client whose it is. What it answers is checked for its shape, and nothing else is known of it. */
export async function askClient<M extends ClientMethod>(
  core: Core,
  borrower: ClientRequest,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  const { uri } = params as { uri: Uri }
  const owner = core.clientUriOwners.of(uri)
  const link = owner === undefined ? undefined : core.links.get(owner)
  // A client that asks for its own would wait for itself.
  if (!link?.ask || link === borrower || link.principal !== borrower.principal)
    throw AhpError.notFound(`nobody here has ${JSON.stringify(uri.slice(0, 200))}`)
  const answer = await inTime(core, link.ask(method, { ...(params as object), channel: rootUri }))
  const schema = commands.get(method)?.result
  const decoded = schema && decode(schema, answer)
  if (!decoded?.ok) throw AhpError.notFound('the client that has it gave no proper answer')
  return decoded.value as Result<M>
}

async function inTime(core: Core, answer: Promise<unknown>): Promise<unknown> {
  let undo = () => {}
  const late = new Promise<never>((_, reject) => {
    undo = core.world.later(core.limits.borrowMs, () =>
      reject(AhpError.notFound('the client that has it does not answer')),
    )
  })
  try {
    return await Promise.race([answer, late])
  } catch (error) {
    throw error instanceof LinkClosed ? AhpError.notFound('the client that has it has gone') : error
  } finally {
    undo()
  }
}
