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

/** A tool call that waits until somebody signs in. */
interface WaitingCall {
  readonly chat: Channel<'chat'>
  readonly turnId: string
  readonly call: ToolCallAuthRequired
}

/** A token for something that is asked for at this moment; an empty one takes it back. Calls that wait for it go on. */
export function authenticate(
  core: Core,
  { principal }: Link,
  { resource, token, expiresIn }: Params<'authenticate'>,
): { readonly seq: number } {
  if (token.length > core.limits.tokenLength)
    throw AhpError.invalidParams(`authenticate: a token has at most ${core.limits.tokenLength} characters`)
  // Whoever gave something may take it back, whether anybody still asks for it or not.
  if (token === '' && core.tokens.forget(principal, resource)) return { seq: 0 }
  const calls = waitingFor(core, principal, resource)
  const asked = advertised(core, resource) ?? calls[0]?.call.auth.resource ?? inUse(core, principal, resource)
  if (!asked)
    throw AhpError.invalidParams(
      `authenticate: nobody here asks for ${JSON.stringify(resource.slice(0, 200))}`,
    )
  if (token === '') return { seq: 0 }
  if (isForAnother(token, resource))
    throw AhpError.invalidParams('authenticate: this token was made for another resource')
  if (calls.length > 0) changeable(core)
  core.tokens.keep(principal, asked, token, expiresIn)
  let seq = 0
  for (const { chat, turnId, call } of calls) {
    allowInTurn(chat, asked)
    const { toolCallId } = call
    seq = core.log.append(chat, { type: 'chat/toolCallAuthResolved', turnId, toolCallId }).last
  }
  return { seq }
}

/** What an agent cannot do without and has not been given. */
export function missingTokens(
  { tokens }: Core,
  { info }: Agent,
  principal: string,
): readonly ProtectedResourceMetadata[] {
  const needed = (info.protectedResources ?? []).filter(({ required }) => required !== false)
  return needed.filter(({ resource }) => tokens.of(principal, resource) === undefined)
}

/** Refuses what needs an agent that cannot work yet. */
export function requireSignIn(core: Core, agent: Agent, principal: string): void {
  const resources = missingTokens(core, agent, principal)
  if (resources.length > 0)
    throw AhpError.authRequired(`${agent.info.displayName} needs a sign-in: ${namesOf(resources)}`, resources)
}

/** Ends a turn whose agent cannot work yet, and tells those who can do something about it. Gives whether it did. */
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

/** A token is good no more: whoever looks at what needs it is told, and nobody else. */
export function notifyExpired(core: Core, principal: string, resource: ProtectedResourceMetadata): void {
  const channels = [...core.log.channels].filter((channel) =>
    needs(core, channel, principal, resource.resource),
  )
  notifyAuthRequired(core, principal, channels, { resource, reason: 'expired' })
}

/** What a turn's agent may show: what it says of itself that it needs, and what a call of this turn was signed in for. */
export function tokenFor(
  core: Core,
  chat: Channel<'chat'>,
  session: Channel<'session'>,
  { info }: Agent,
  resource: string,
): string | undefined {
  if (!isOf(info, resource) && !isAllowedInTurn(chat, resource)) return undefined
  return core.tokens.of(core.owners.of(session.uri), resource)
}

function notifyAuthRequired(
  core: Core,
  principal: string,
  channels: readonly Channel[],
  said: { readonly resource: ProtectedResourceMetadata; readonly reason: 'required' | 'expired' },
): void {
  const followers = new Set(channels.flatMap(({ listeners }) => [...listeners]))
  const note = { channel: rootUri, ...said }
  for (const link of core.links.values())
    if (link.principal === principal && followers.has(link)) link.notify('auth/required', note)
}

function needs(core: Core, channel: Channel, principal: string, resource: string): boolean {
  if (channel.is('root')) return advertised(core, resource) !== undefined
  const chat = channel.is('chat') ? channel : undefined
  const session = chat ? sessionOf(core, chat.uri) : channel.is('session') ? channel : undefined
  if (!session || core.owners.of(session.uri) !== principal) return false
  const { provider, chats } = session.head
  const own = chat ? [chat] : chats.map(({ resource }) => core.log.channel(resource, 'chat'))
  const agent = agentOf(core, provider)
  return (agent && isOf(agent.info, resource)) || own.some((each) => each && isAllowedInTurn(each, resource))
}

function advertised({ agents }: Core, wanted: string): ProtectedResourceMetadata | undefined {
  return agents
    .flatMap(({ info }) => info.protectedResources ?? [])
    .find(({ resource }) => resource === wanted)
}

function isOf({ protectedResources = [] }: Agent['info'], wanted: string): boolean {
  return protectedResources.some(({ resource }) => resource === wanted)
}

/** The chats of a principal in which a turn goes on. Such a chat is awake. */
function busyChats(core: Core, principal: string): readonly Channel<'chat'>[] {
  return core.jobs.pending.flatMap((uri) => {
    const chat = core.log.channel(uri, 'chat')
    const session = core.catalog.sessionOf(uri)
    return chat && session !== undefined && core.owners.of(session) === principal ? [chat] : []
  })
}

/** The calls of a principal's chats that wait for a token; but what an agent needs for itself no other agent gets. */
function waitingFor(core: Core, principal: string, resource: string): readonly WaitingCall[] {
  return busyChats(core, principal).flatMap((chat) => {
    const session = sessionOf(core, chat.uri)?.head
    const agent = agentOf(core, session?.provider ?? '')
    const foreign = advertised(core, resource) && !(agent && isOf(agent.info, resource))
    const { activeTurn } = chat.head
    if (!activeTurn || foreign) return []
    return activeTurn.responseParts.flatMap((part) => {
      const call = part.kind === 'toolCall' ? part.toolCall : undefined
      if (call?.status !== 'auth-required' || call.auth.resource.resource !== resource) return []
      return [{ chat, turnId: activeTurn.id, call }]
    })
  })
}

/** What was given for a call of a turn that goes on may be given again: it may expire before the turn ends. */
function inUse(core: Core, principal: string, resource: string): ProtectedResourceMetadata | undefined {
  for (const chat of busyChats(core, principal)) {
    const found = allowedResources(chat)?.get(resource)
    if (found) return found
  }
  return undefined
}

/** A turn may use what one of its calls was signed in for, until it ends. Its message is what does not change meanwhile. */
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
