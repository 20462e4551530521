import { agentsOf } from '../agents/agents.ts'
import { ownersOf } from '../../catalog/owners.ts'
import { tokensOf } from './tokens.ts'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'
import type { Agent } from '../../ports/agent.ts'

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
  return tokensOf(core).of(ownersOf(core).of(session.uri), resource)
}

/** Returns the metadata of a resource that the info of an agent names. */
export function advertised(core: Core, wanted: string): ProtectedResourceMetadata | undefined {
  return agentsOf(core)
    .list.flatMap(({ info }) => info.protectedResources ?? [])
    .find(({ resource }) => resource === wanted)
}

export function isDeclared({ protectedResources = [] }: Agent['info'], wanted: string): boolean {
  return protectedResources.some(({ resource }) => resource === wanted)
}

/**
 * Allows a turn to use a resource until the turn ends. The resources are stored under the message of the turn, which
 * is the same object as long as the turn is active.
 */
export function allowInTurn(chat: Channel<'chat'>, resource: ProtectedResourceMetadata): void {
  const { message } = chat.head.activeTurn ?? {}
  if (message)
    resourcesByMessage.set(
      message,
      new Map([...(resourcesByMessage.get(message) ?? []), [resource.resource, resource]]),
    )
}

export function isAllowedInTurn(chat: Channel<'chat'>, resource: string): boolean {
  return allowedResources(chat)?.has(resource) === true
}

/** The resources for which a call of the chat's active turn was signed in. */
export function allowedResources(
  chat: Channel<'chat'>,
): ReadonlyMap<string, ProtectedResourceMetadata> | undefined {
  const { message } = chat.head.activeTurn ?? {}
  return message && resourcesByMessage.get(message)
}

const resourcesByMessage = new WeakMap<object, ReadonlyMap<string, ProtectedResourceMetadata>>()
