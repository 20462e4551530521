import { Wire as Speech } from '@atrium/protocol/oracles/wire'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Version } from '@atrium/protocol/versions/negotiate'
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

export async function initialize(wire: Wire, clientId: string, version: Version = '1.0.0'): Promise<Wire> {
  const speech = new Speech(version)
  const params = { protocolVersions: [version], clientId }
  await wire.ask('initialize', speech.params('initialize', root, params))
  return wire
}

interface ChatOptions {
  readonly session: string
  readonly clientId: string
  /** The version of AHP that the client speaks. */
  readonly version: Version
  readonly latency: number | undefined
}

/** Initializes the connection and subscribes to the default chat of a session. */
export async function openChat(
  wire: Wire,
  { session, clientId, version, latency }: ChatOptions,
): Promise<void> {
  await initialize(wire, clientId, version)
  const delivery = latency === undefined ? {} : { delivery: { maxLatencyMs: latency } }
  const speech = new Speech(version)
  await wire.ask('subscribe', speech.params('subscribe', turnsOf(session, speech), delivery))
}

/** The `dispatchAction` message that starts a turn, as a client of this AHP version writes it. */
export function turnStarted(
  session: string,
  clientSeq: number,
  text: string,
  version: Version = '1.0.0',
): string {
  const speech = new Speech(version)
  const type = speech.turnType('turnStarted')
  const startedAt = new Date().toISOString()
  const action = { type, turnId: `t${clientSeq}`, startedAt, ...speech.message(text) }
  const params = speech.dispatch(turnsOf(session, speech), clientSeq, action)
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

/** The channel of the turns of a session. Up to 0.3 it is the session itself, whose URI has the scheme of its agent in 0.1. */
function turnsOf(session: string, { merged, nested }: Speech): string {
  if (!merged) return defaultChatUri(session)
  return nested ? session.replace('ahp-session:', 'guide:') : session
}
