import { clientUriOwnersOf } from './client-uri-owners.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ClientMethod, Params, Result } from '@atrium/protocol/commands'
import { commands } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { hasLossyNumber } from '@atrium/protocol/rpc/frame-check'
import { LinkClosed } from '@atrium/protocol/rpc/peer'
import { decode } from '@atrium/protocol/schema'
import { rootUri } from '@atrium/protocol/uri'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { withTimeout } from '../../kernel/timeout.ts'

export function isFile(uri: Uri): boolean {
  return /^file:/i.test(uri)
}

/** Returns the client's own URIs in a message: the values of `uri` keys that are neither `file:` nor `ahp-…:` URIs. */
export function clientUris(message: unknown): readonly Uri[] {
  const found: Uri[] = []
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const uri = 'uri' in value ? value.uri : undefined
    if (typeof uri === 'string' && !isFile(uri) && !uri.startsWith('ahp-')) found.push(uri)
    for (const each of Object.values(value)) collect(each)
  }
  collect(message)
  return found
}

/** Remembers which client owns the URIs of client files in an action. */
export function recordClientUris(
  core: Core,
  _: Channel,
  action: Action,
  { clientId }: { readonly clientId: string },
): void {
  if (mayNameClientFiles.has(action.type))
    for (const uri of clientUris(action)) clientUriOwnersOf(core).record(uri, clientId)
}

/** Types of actions that may contain URIs of client files. */
const mayNameClientFiles = new Set([
  'chat/turnStarted',
  'chat/pendingMessageSet',
  'chat/draftChanged',
  'session/activeClientSet',
])

/** The requester of a client's file: a link, or an agent that works for a principal. */
export type ClientRequest = Pick<Link, 'principal'>

/** Forwards a request to the client that owns the URI. The client's response is only checked against the schema. */
export async function askClient<M extends ClientMethod>(
  core: Core,
  requester: ClientRequest,
  method: M,
  params: Params<M> & { readonly uri: Uri },
): Promise<Result<M>> {
  const { uri } = params
  const owner = clientUriOwnersOf(core).of(uri)
  const link = owner === undefined ? undefined : core.clients.links.get(owner)
  // A client that requests its own file would wait for itself.
  if (!link?.ask || link === requester || link.principal !== requester.principal)
    throw AhpError.notFound(
      `no other connected client that can be asked has ${JSON.stringify(uri.slice(0, 200))}`,
    )
  return askLink(core, link, method, params)
}

/** Sends a request to a client that is known to have the resource. */
export async function askLink<M extends ClientMethod>(
  core: Core,
  link: Link,
  method: M,
  params: Params<M> & { readonly uri: Uri },
): Promise<Result<M>> {
  if (!link.ask) throw AhpError.notFound('the client that has it cannot be asked')
  const answer = await answerOf(core, link.ask(method, { ...params, channel: rootUri }))
  const schema = commands.get(method)?.result
  const decoded = schema && !hasLossyNumber(answer) && decode(schema, answer)
  if (!decoded || !decoded.ok) throw AhpError.notFound('the client that has it sent a malformed response')
  // The value was decoded with the schema of this method's result. So the cast is safe.
  return decoded.value as Result<M>
}

async function answerOf({ world, limits }: Core, answer: Promise<unknown>): Promise<unknown> {
  try {
    return await withTimeout(world, limits.borrowMs, answer, () => {
      throw AhpError.notFound('the client that has it does not answer')
    })
  } catch (error) {
    throw error instanceof LinkClosed ? AhpError.notFound('the client that has it has disconnected') : error
  }
}
