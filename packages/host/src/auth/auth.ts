import type { ErrorPart } from '@atrium/protocol/chat/state'
import type { ToolCallAuthRequired } from '@atrium/protocol/chat/tool'
import type { Params } from '@atrium/protocol/commands'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { AhpError } from '@atrium/protocol/errors'
import { compact } from '@atrium/protocol/update'
import { rootUri } from '@atrium/protocol/uri'
import { agentOf } from '../agents/agents.ts'
import { isWritable, sessionOf } from '../core/lookup.ts'
import { isForAnother } from './audience.ts'
import { changeable } from '../channels/names.ts'
import type { Channel } from '../log/channel.ts'
import type { Core, Link } from '../core/core.ts'
import type { Agent } from '../ports/agent.ts'

/** A tool call that waits for a sign-in. */
interface WaitingCall {
  readonly chat: Channel<'chat'>
  readonly turnId: string
  readonly call: ToolCallAuthRequired
}

/**
 * Stores a token for a resource that an agent, an MCP server or a tool call asks for. An empty token revokes the
 * stored one. Tool calls that wait for the token go on, and servers that wait for it start. Returns the sequence
 * number of the last action; 0 if there is none.
 */
export function authenticate(
  core: Core,
  { principal }: Link,
  { resource, token, expiresIn }: Params<'authenticate'>,
): { readonly seq: number } {
  if (token.length > core.limits.tokenLength)
    throw AhpError.invalidParams(`authenticate: a token has at most ${core.limits.tokenLength} characters`)
  // A token may be revoked even when no agent or call asks for its resource any more.
  if (token === '' && core.tokens.forget(principal, resource)) return { seq: 0 }
  const calls = waitingFor(core, principal, resource)
  const servers = core.customizations?.waitingFor(principal, resource) ?? []
  const metadata =
    advertised(core, resource) ??
    calls[0]?.call.auth.resource ??
    servers[0]?.resource ??
    inUse(core, principal, resource)
  if (!metadata)
    throw AhpError.invalidParams(
      `authenticate: no agent, no MCP server and no tool call asks for ${JSON.stringify(resource.slice(0, 200))}`,
    )
  if (token === '') return { seq: 0 }
  if (isForAnother(token, resource))
    throw AhpError.invalidParams('authenticate: this token was made for another resource')
  if (calls.length > 0) changeable(core)
  core.tokens.keep(principal, metadata, token, expiresIn)
  for (const { server } of servers) server.start().catch(() => {})
  let seq = 0
  for (const { chat, turnId, call } of calls) {
    allowInTurn(chat, metadata)
    const { toolCallId } = call
    seq = core.log.append(chat, { type: 'chat/toolCallAuthResolved', turnId, toolCallId }).last
  }
  return { seq }
}

/** Returns the resources that an agent requires and for which the principal has given no token. */
export function missingTokens(
  { tokens }: Core,
  { info }: Agent,
  principal: string,
): readonly ProtectedResourceMetadata[] {
  const needed = (info.protectedResources ?? []).filter(({ required }) => required !== false)
  return needed.filter(({ resource }) => tokens.of(principal, resource) === undefined)
}

/** Throws if an agent lacks a token that it requires. */
export function requireSignIn(core: Core, agent: Agent, principal: string): void {
  const resources = missingTokens(core, agent, principal)
  if (resources.length > 0)
    throw AhpError.authRequired(`${agent.info.displayName} needs a sign-in: ${namesOf(resources)}`, resources)
}

/**
 * Ends a turn whose agent lacks a required token, and notifies the connections of the session's owner. Returns
 * whether the turn was ended.
 */
export function failWithoutToken(
  core: Core,
  chat: Channel<'chat'>,
  session: Channel<'session'>,
  agent: Agent,
): boolean {
  const principal = core.owners.of(session.uri)
  const resources = missingTokens(core, agent, principal)
  const { activeTurn } = chat.head
  if (resources.length === 0 || !activeTurn) return false
  const message = `${agent.info.displayName} needs a sign-in first: ${namesOf(resources)}`
  const part = compact<ErrorPart>({
    kind: 'error',
    error: { errorType: 'auth-required', message },
    resumable: (agent.resumes && isWritable(session, chat.uri)) || undefined,
  })
  core.log.append(chat, { type: 'chat/error', turnId: activeTurn.id, duration: 0, part })
  for (const resource of resources)
    notifyAuthRequired(core, principal, [chat, session], { resource, reason: 'required' })
  return true
}

/** Notifies those links of a principal that are subscribed to a channel which needs the expired token. */
export function notifyExpired(core: Core, principal: string, resource: ProtectedResourceMetadata): void {
  const channels = [...core.log.channels].filter((channel) =>
    needs(core, channel, principal, resource.resource),
  )
  notifyAuthRequired(core, principal, channels, { resource, reason: 'expired' })
}

/** A turn that wants to use a token. */
interface TokenUser {
  readonly chat: Channel<'chat'>
  readonly session: Channel<'session'>
  readonly agent: Agent
}

/** Returns the token for a resource, if the agent declares the resource or a call of this turn was signed in for it. */
export function tokenFor(
  core: Core,
  { chat, session, agent }: TokenUser,
  resource: string,
): string | undefined {
  if (!isDeclared(agent.info, resource) && !isAllowedInTurn(chat, resource)) return undefined
  return core.tokens.of(core.owners.of(session.uri), resource)
}

function notifyAuthRequired(
  core: Core,
  principal: string,
  channels: readonly Channel[],
  details: { readonly resource: ProtectedResourceMetadata; readonly reason: 'required' | 'expired' },
): void {
  const subscribers = new Set(channels.flatMap(({ listeners }) => [...listeners]))
  const params = { channel: rootUri, ...details }
  for (const link of core.links.values())
    if (link.principal === principal && subscribers.has(link)) link.notify('auth/required', params)
}

function needs(core: Core, channel: Channel, principal: string, resource: string): boolean {
  if (channel.is('root')) return advertised(core, resource) !== undefined
  const chat = channel.is('chat') ? channel : undefined
  const session = chat ? sessionOf(core, chat.uri) : channel.is('session') ? channel : undefined
  if (!session || core.owners.of(session.uri) !== principal) return false
  const { provider, chats } = session.head
  const own = chat ? [chat] : chats.map(({ resource }) => core.log.channel(resource, 'chat'))
  const agent = agentOf(core, provider)
  return (
    (agent && isDeclared(agent.info, resource)) || own.some((each) => each && isAllowedInTurn(each, resource))
  )
}

function advertised({ agents }: Core, wanted: string): ProtectedResourceMetadata | undefined {
  return agents
    .flatMap(({ info }) => info.protectedResources ?? [])
    .find(({ resource }) => resource === wanted)
}

function isDeclared({ protectedResources = [] }: Agent['info'], wanted: string): boolean {
  return protectedResources.some(({ resource }) => resource === wanted)
}

/** Returns the chats of a principal with an active turn. Such chats are in memory. */
function busyChats(core: Core, principal: string): readonly Channel<'chat'>[] {
  return core.jobs.pending.flatMap((uri) => {
    const chat = core.log.channel(uri, 'chat')
    const session = core.catalog.sessionOf(uri)
    return chat && session !== undefined && core.owners.of(session) === principal ? [chat] : []
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

/**
 * Allows a turn to use a resource until the turn ends. The resources are stored under the message of the turn, which
 * is the same object as long as the turn is active.
 */
function allowInTurn(chat: Channel<'chat'>, resource: ProtectedResourceMetadata): void {
  const { message } = chat.head.activeTurn ?? {}
  if (message)
    resourcesByMessage.set(
      message,
      new Map([...(resourcesByMessage.get(message) ?? []), [resource.resource, resource]]),
    )
}

function isAllowedInTurn(chat: Channel<'chat'>, resource: string): boolean {
  return allowedResources(chat)?.has(resource) === true
}

function allowedResources(chat: Channel<'chat'>): ReadonlyMap<string, ProtectedResourceMetadata> | undefined {
  const { message } = chat.head.activeTurn ?? {}
  return message && resourcesByMessage.get(message)
}

const resourcesByMessage = new WeakMap<object, ReadonlyMap<string, ProtectedResourceMetadata>>()

function namesOf(resources: readonly ProtectedResourceMetadata[]): string {
  return resources.map(({ resource, resource_name: name }) => name ?? resource).join(', ')
}
