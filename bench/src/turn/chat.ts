import { defaultChatUri } from '@atrium/protocol/uri'
import type { Wire } from '../wire.ts'

const root = 'ahp-root://'

export async function initialize(wire: Wire, clientId: string, version = '1.0.0'): Promise<Wire> {
  await wire.ask('initialize', { channel: root, protocolVersions: [version], clientId })
  return wire
}

interface ChatOptions {
  readonly session: string
  readonly clientId: string
  /** Whether to speak AHP 0.9.0 instead of 1.0.0. */
  readonly older: boolean
  readonly latency: number | undefined
}

/** Initializes the connection and subscribes to the default chat of a session. */
export async function openChat(
  wire: Wire,
  { session, clientId, older, latency }: ChatOptions,
): Promise<void> {
  await initialize(wire, clientId, older ? '0.9.0' : '1.0.0')
  const delivery = latency === undefined ? {} : { delivery: { maxLatencyMs: latency } }
  await wire.ask('subscribe', { channel: defaultChatUri(session), ...delivery })
}

export function turnStarted(session: string, clientSeq: number, text: string): string {
  const action = {
    type: 'chat/turnStarted',
    turnId: `t${clientSeq}`,
    startedAt: new Date().toISOString(),
    message: { text, origin: { kind: 'user' } },
  }
  const params = { channel: defaultChatUri(session), clientSeq, action }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}
