import { ownersOf } from '../../catalog/owners.ts'
import { signInsOf } from './sign-ins.ts'
import type { ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import { agentOf } from '../agents/agents.ts'
import { sessionOf } from '../../catalog/lookup.ts'
import type { Core } from '../../kernel/core.ts'
import type { Effects } from '../../kernel/rules.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { advertised, isAllowedInTurn, isDeclared } from './declared.ts'

/** What a notification `auth/required` says. */
interface Notice {
  readonly resource: ProtectedResourceMetadata
  readonly reason: 'required' | 'expired'
}

/** Notifies the links of a session's owner that are subscribed to the session or to one of its chats. */
export function notifySession(core: Core, session: Channel<'session'>, ...notices: readonly Notice[]): void {
  const chats = session.head.chats.map(({ resource }) => core.log.channel(resource))
  const channels = [session, ...chats].filter((each) => each !== undefined)
  for (const notice of notices) notify(core, ownersOf(core).of(session.uri), channels, notice)
}

/** Notifies those links of a principal that are subscribed to a channel which needs the expired token. */
export function notifyExpired(core: Core, principal: string, resource: ProtectedResourceMetadata): void {
  const channels = [...core.log.channels].filter((channel) =>
    needs(core, channel, principal, resource.resource),
  )
  notify(core, principal, channels, { resource, reason: 'expired' })
}

/** A tool call or an MCP server that waits for a sign-in: its state alone is not known to clients of older versions. */
export const authEffects: {
  readonly chat: Effects<'chat'>
  readonly session: Effects<'session'>
} = {
  chat: {
    'chat/toolCallAuthRequired': (core, chat, { auth }) => {
      const session = sessionOf(core, chat.uri)
      if (session) notifySession(core, session, noticeOf(auth))
    },
  },
  session: {
    'session/mcpServerStateChanged': (core, session, { state }) => {
      if (state.kind === 'authRequired') void renewOrNotify(core, session, state)
    },
  },
}

/** Gets a new token if that is possible without a person. Otherwise asks for a sign-in. */
async function renewOrNotify(
  core: Core,
  session: Channel<'session'>,
  required: Parameters<typeof noticeOf>[0],
): Promise<void> {
  const { resource } = required.resource
  const needsPerson = required.reason === 'insufficientScope' || !signInsOf(core)
  const isRenewed = !needsPerson && (await signInsOf(core)?.renew(ownersOf(core).of(session.uri), resource))
  if (isRenewed !== true) notifySession(core, session, noticeOf(required))
}

function noticeOf({
  resource,
  reason,
}: {
  readonly resource: ProtectedResourceMetadata
  readonly reason: string
}): Notice {
  return { resource, reason: reason === 'expired' ? reason : 'required' }
}

/** Sends a notice to each link of a principal that is subscribed to one of the channels. It names the first of them. */
function notify(core: Core, principal: string, channels: readonly Channel[], notice: Notice): void {
  const told = new Set<unknown>()
  for (const { uri: channel, listeners } of channels) {
    const params = { channel, ...notice }
    for (const link of core.clients.links.values()) {
      if (link.principal !== principal || !listeners.has(link) || told.has(link)) continue
      told.add(link)
      link.notify('auth/required', params)
    }
  }
}

function needs(core: Core, channel: Channel, principal: string, resource: string): boolean {
  if (channel.is('root')) return advertised(core, resource) !== undefined
  const chat = channel.is('chat') ? channel : undefined
  const session = chat ? sessionOf(core, chat.uri) : channel.is('session') ? channel : undefined
  if (!session || ownersOf(core).of(session.uri) !== principal) return false
  const { provider, chats } = session.head
  const own = chat ? [chat] : chats.map(({ resource: uri }) => core.log.channel(uri, 'chat'))
  const agent = agentOf(core, provider)
  return (
    (agent && isDeclared(agent.info, resource)) || own.some((each) => each && isAllowedInTurn(each, resource))
  )
}
