import { defaultChatUri } from '@atrium/protocol/uri'
import { Wire } from './wire.ts'

export const root = 'ahp-root://'

/** Connects to a server and initializes. */
export async function opened({ port }: { readonly port: number }, clientId: string): Promise<Wire> {
  return initialize(await Wire.open(port), clientId)
}

/** The `dispatchAction` message that changes the title of a session. */
export function titleChange(channel: string, clientSeq: number, title: string): string {
  const params = { channel, clientSeq, action: { type: 'session/titleChanged', title } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

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

/** The `dispatchAction` message that starts a turn, as a client of this AHP version writes it. */
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

/**
 * The channel that carries the turns of a session. Up to 0.3 it is the session itself, whose URI has another scheme
 * in 0.1.
 */
function turnsOf(session: string, version: string): string {
  if (hasChats(version)) return defaultChatUri(session)
  return hasChannels(version) ? session : session.replace('ahp-session:', 'guide:')
}

/**
 * Returns the member of `params` that names the channel `uri`: `channel`, or in 0.1 a member with the name `member`.
 * Returns an empty object if the 0.1 method has no such member.
 */
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
