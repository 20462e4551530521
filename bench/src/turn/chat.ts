import { defaultChatUri } from '@atrium/protocol/uri'
import type { Wire } from '../wire.ts'

const root = 'ahp-root://'

export async function initialize(wire: Wire, clientId: string, version = '1.0.0'): Promise<Wire> {
  await wire.ask('initialize', { ...addressed(version, root), protocolVersions: [version], clientId })
  return wire
}

interface ChatOptions {
  readonly session: string
  readonly clientId: string
  /** The version of AHP that the client speaks. */
  readonly version: string
  readonly latency: number | undefined
}

/** Initializes the connection and subscribes to the default chat of a session. */
export async function openChat(
  wire: Wire,
  { session, clientId, version, latency }: ChatOptions,
): Promise<void> {
  await initialize(wire, clientId, version)
  const delivery = latency === undefined ? {} : { delivery: { maxLatencyMs: latency } }
  await wire.ask('subscribe', { ...addressed(version, turnsOf(session, version), 'resource'), ...delivery })
}

/** The dispatch of a message in the form of a version. */
export function turnStarted(session: string, clientSeq: number, text: string, version = '1.0.0'): string {
  const uri = turnsOf(session, version)
  const action = {
    type: `${hasChats(version) ? 'chat' : 'session'}/turnStarted`,
    turnId: `t${clientSeq}`,
    startedAt: new Date().toISOString(),
    ...(hasChannels(version)
      ? { message: { text, origin: { kind: 'user' } } }
      : { userMessage: { text }, session: uri }),
  }
  const params = { ...addressed(version, uri), clientSeq, action }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

/** The channel of the turns of a session: up to 0.3 the session itself, which has another name in 0.1. */
function turnsOf(session: string, version: string): string {
  if (hasChats(version)) return defaultChatUri(session)
  return hasChannels(version) ? session : session.replace('ahp-session:', 'guide:')
}

/** The member of params that names a channel. In 0.1 most params do not name a channel. */
function addressed(version: string, uri: string, member?: string): object {
  if (hasChannels(version)) return { channel: uri }
  return member === undefined ? {} : { [member]: uri }
}

function hasChannels(version: string): boolean {
  return version !== '0.1.0'
}

function hasChats(version: string): boolean {
  return !['0.1.0', '0.2.0', '0.3.0'].includes(version)
}
