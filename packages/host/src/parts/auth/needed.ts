import { ownersOf } from '../../catalog/owners.ts'
import { tokensOf } from './tokens.ts'
import type { ErrorPart } from '@atrium/protocol/chat/state'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { AhpError } from '@atrium/protocol/errors'
import { readinessOf } from '@atrium/protocol/root/readiness'
import { compact } from '@atrium/protocol/update'
import { probeAgent } from '../agents/agents.ts'
import { isWritable } from '../../catalog/lookup.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Agent } from '../../ports/agent.ts'
import { notifySession } from './notices.ts'

/** Returns the resources that an agent requires and for which the principal has given no token. */
export function missingTokens(core: Core, agent: Agent, principal: string): Resources {
  const has = (resource: string) => tokensOf(core).of(principal, resource) !== undefined
  if (agent.missing) return agent.missing(has)
  const needed = (agent.info.protectedResources ?? []).filter(({ required }) => required !== false)
  return needed.filter(({ resource }) => !has(resource))
}

/** Throws if an agent lacks a token that it requires. */
export function requireSignIn(core: Core, agent: Agent, principal: string): void {
  const resources = missingTokens(core, agent, principal)
  if (resources.length > 0) throw AhpError.authRequired(problemOf(agent, resources), resources)
}

/**
 * Throws if an agent lacks a token that it requires. An agent that knows by itself what it lacks is asked again first: somebody may
 * have signed in on the machine meanwhile.
 */
export async function requireSignInNow(core: Core, agent: Agent, principal: string): Promise<void> {
  if (agent.missing && missingTokens(core, agent, principal).length > 0)
    await probeAgent(core, agent.info.provider)
  requireSignIn(core, agent, principal)
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
  // An agent that knows by itself what it lacks says so in the turn.
  const resources = agent.missing ? [] : missingTokens(core, agent, ownersOf(core).of(session.uri))
  const { activeTurn } = chat.head
  if (resources.length === 0 || !activeTurn) return false
  const part = compact<ErrorPart>({
    kind: 'error',
    error: { errorType: 'auth-required', message: problemOf(agent, resources) },
    resumable: (agent.resumes && isWritable(session, chat.uri)) || undefined,
  })
  core.log.append(chat, { type: 'chat/error', turnId: activeTurn.id, duration: 0, part })
  notifySession(core, session, ...resources.map((resource) => ({ resource, reason: 'required' as const })))
  return true
}

type Resources = readonly ProtectedResourceMetadata[]

/** Returns the sentence for users: what the agent itself says, or else the names of the resources. */
function problemOf({ info }: Agent, resources: Resources): string {
  const names = resources.map(({ resource, resource_name: name }) => name ?? resource).join(', ')
  return readinessOf(info)?.problem ?? `${info.displayName} needs a sign-in: ${names}`
}
