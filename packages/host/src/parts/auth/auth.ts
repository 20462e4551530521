import { agentsOf } from '../agents/agents.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { tokensOf } from './tokens.ts'
import { signInsOf } from './sign-ins.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import type { ToolCallAuthRequired } from '@atrium/protocol/chat/tool'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { agentOf, setAgents } from '../agents/agents.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import { changeable } from '../../channels/names.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Link } from '../../kernel/link.ts'
import { TurnFailed } from '../../ports/agent.ts'
import { McpAuthRequired } from '../../ports/mcp.ts'
import { isForAnother } from './audience.ts'
import { advertised, allowInTurn, allowedResources, isDeclared } from './declared.ts'

/** A tool call that waits for a sign-in. */
interface WaitingCall {
  readonly chat: Channel<'chat'>
  readonly turnId: string
  readonly call: ToolCallAuthRequired
}

/**
 * Stores a token for a resource that an agent, an MCP server or a tool call asks for. An empty token revokes the
 * stored one. Tool calls that wait for the token go on, servers that wait for it start, and agents that can check the sign-in
 * do so. Resolves with the sequence number of the last action; 0 if there is none. Rejects if the token is refused.
 */
export async function authenticate(
  core: Core,
  { principal }: Pick<Link, 'principal'>,
  { resource, token, expiresIn }: Omit<Params<'authenticate'>, 'channel'>,
): Promise<{ readonly seq: number }> {
  if (token.length > core.limits.tokenLength)
    throw AhpError.invalidParams(`authenticate: a token has at most ${core.limits.tokenLength} characters`)
  if (token === '') signInsOf(core)?.forget(principal, resource)
  // A token may be revoked even when no agent or call asks for its resource any more.
  if (token === '' && tokensOf(core).forget(principal, resource)) return { seq: 0 }
  const found = requested(core, principal, resource)
  if (!found)
    throw AhpError.invalidParams(
      `authenticate: no agent, no MCP server and no tool call asks for ${JSON.stringify(resource.slice(0, 200))}`,
    )
  const { metadata, calls, servers } = found
  if (token === '') return { seq: 0 }
  if (isForAnother(token, resource))
    throw AhpError.invalidParams('authenticate: this token was made for another resource')
  if (calls.length > 0) changeable(core)
  if (takesTokens(metadata)) tokensOf(core).keep(principal, metadata, token, expiresIn)
  let seq = 0
  for (const { chat, turnId, call } of calls) {
    allowInTurn(chat, metadata)
    const { toolCallId } = call
    seq = core.log.append(chat, { type: 'chat/toolCallAuthResolved', turnId, toolCallId }).last
  }
  const signers = agentsOf(core).list.filter(({ info, signIn }) => signIn && isDeclared(info, resource))
  const checks = [
    ...signers.map(async (agent) => agent.signIn?.(resource, token)),
    ...servers.map(({ server }) => server.start()),
  ]
  if (checks.length > 0) await accepted(core, principal, metadata, checks)
  tokensOf(core).signedIn(principal, resource)
  if (signers.length === 0) return { seq }
  setAgents(core)
  return { seq: core.log.last }
}

/** Who asks a principal for a sign-in to a resource, and for which scopes; undefined if nobody does. */
export function requested(core: Core, principal: string, resource: string) {
  const calls = waitingFor(core, principal, resource)
  const servers = customizationsOf(core)?.waitingFor(principal, resource) ?? []
  const metadata =
    advertised(core, resource) ??
    calls[0]?.call.auth.resource ??
    servers[0]?.resource ??
    tokensOf(core).wanted(principal, resource) ??
    inUse(core, principal, resource)
  const states = servers.map(({ server }) => server.state)
  const scopes = [
    ...calls.flatMap(({ call }) => call.auth.requiredScopes ?? []),
    ...states.flatMap((state) => (state.kind === 'authRequired' ? (state.requiredScopes ?? []) : [])),
  ]
  const client = servers.find((each) => each.client)?.client
  return metadata && { metadata, calls, servers, client, scopes: [...new Set(scopes)] }
}

/** Waits until all have accepted a sign-in. If one has refused it, forgets the token and throws. Other failures are shown in states. */
async function accepted(
  core: Core,
  principal: string,
  metadata: ProtectedResourceMetadata,
  checks: readonly Promise<void>[],
): Promise<void> {
  for (const result of await Promise.allSettled(checks)) {
    if (result.status === 'fulfilled') continue
    const { reason }: { readonly reason: unknown } = result
    if (!(reason instanceof TurnFailed || reason instanceof McpAuthRequired)) continue
    tokensOf(core).forget(principal, metadata.resource)
    throw AhpError.authRequired(reason.message, [metadata])
  }
}

/** Whether a resource takes tokens. A sign-in without a token is done by the agent itself, for example in a browser. */
function takesTokens({ bearer_methods_supported: methods }: ProtectedResourceMetadata): boolean {
  return methods === undefined || methods.length > 0
}

/** Returns the chats of a principal with an active turn. Such chats are in memory. */
function busyChats(core: Core, principal: string): readonly Channel<'chat'>[] {
  return core.jobs.pending.flatMap((uri) => {
    const chat = core.log.channel(uri, 'chat')
    const session = catalogOf(core).sessionOf(uri)
    return chat && session !== undefined && ownersOf(core).of(session) === principal ? [chat] : []
  })
}

/**
 * Returns the tool calls of a principal that wait for a token of this resource. If the info of any agent declares the
 * resource, only the calls of agents that declare it are returned.
 */
function waitingFor(core: Core, principal: string, resource: string): readonly WaitingCall[] {
  return busyChats(core, principal).flatMap((chat) => {
    const session = sessionOf(core, chat.uri)?.head
    const agent = agentOf(core, session?.provider ?? '')
    const foreign = advertised(core, resource) && !(agent && isDeclared(agent.info, resource))
    const { activeTurn } = chat.head
    if (!activeTurn || foreign) return []
    return activeTurn.responseParts.flatMap((part) => {
      const call = part.kind === 'toolCall' ? part.toolCall : undefined
      if (call?.status !== 'auth-required' || call.auth.resource.resource !== resource) return []
      return [{ chat, turnId: activeTurn.id, call }]
    })
  })
}

/**
 * Returns the resource if a call of an active turn was signed in for it. Its token may expire during the turn, and the client
 * may then give a new one.
 */
function inUse(core: Core, principal: string, resource: string): ProtectedResourceMetadata | undefined {
  for (const chat of busyChats(core, principal)) {
    const found = allowedResources(chat)?.get(resource)
    if (found) return found
  }
  return undefined
}
