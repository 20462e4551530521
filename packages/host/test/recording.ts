import { readFileSync } from 'node:fs'
import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionState } from '@atrium/protocol/session/state'
import { RawClient } from './raw-client.ts'
import type { Message } from './raw-client.ts'

/** A line of a recording: a connection was opened or closed, or a frame was sent to the host (`c2s`) or by the host (`s2c`). */
interface Line {
  readonly conn: number
  readonly ev?: string
  readonly d?: 'c2s' | 's2c'
  readonly m?: Message
}

export interface Recording {
  readonly lines: readonly Line[]
  /** The providers that the recorded client named. */
  readonly providers: readonly string[]
}

export function readRecording(path: string): Recording {
  const text = readFileSync(path, 'utf8').trim()
  const lines = text.split('\n').map((line) => JSON.parse(line) as Line)
  const named = lines.flatMap(({ d, m }) => (d === 'c2s' ? (m?.params?.['provider'] ?? []) : []))
  return { lines, providers: [...new Set(named as string[])] }
}

/**
 * Sends the frames of a recorded client again, with the same ids, URIs and numbers. Before each frame it waits for the
 * messages that the recorded client may have waited for. Returns all connections.
 */
export async function replay(
  { lines }: Recording,
  connect: () => Transport,
  finish: (turnId: string) => void,
): Promise<readonly RawClient[]> {
  const links = new Map<number, RawClient>()
  /** The URIs of chats in this host, by the URIs of the same chats in the recorded host. */
  const ours = new Map<string, Uri>()
  for (const { conn, ev, d, m } of lines) {
    const link = links.get(conn)
    if (ev === 'open') links.set(conn, new RawClient(connect(), '0.9.0'))
    else if (ev === 'close') link?.transport.close()
    else if (m && link && d === 'c2s') links.set(conn, send(link, renamed(m, ours), [...links.values()]))
    else if (m && link && d === 's2c') await expected(link, renamed(m, ours), ours, finish)
  }
  return [...links.values()]
}

/**
 * Sends a frame. A `reconnect` takes over the state of the older connection, and its `lastSeenServerSeq` is replaced by a
 * number of this host.
 */
function send(link: RawClient, message: Message, links: readonly RawClient[]): RawClient {
  const { method, params } = message
  if (method !== 'reconnect') {
    link.say(message)
    return link
  }
  const before = links.findLast((other) => other !== link && other.clientId === params?.['clientId'])
  if (before) link.inherit(before)
  link.say({ ...message, params: { ...params, lastSeenServerSeq: before?.lastSeen ?? 0 } })
  return link
}

/** Takes a message of the recorded host. If the client may depend on it, waits for the corresponding message of this host. */
async function expected(
  link: RawClient,
  recorded: Message,
  ours: Map<string, Uri>,
  finish: (turnId: string) => void,
): Promise<void> {
  const { id, method, params = {} } = recorded
  if (method === undefined && id !== undefined) {
    await link.until(() => link.answerTo(id) !== undefined)
    learn(recorded, link.answerTo(id), ours)
  }
  if (method === 'root/sessionAdded') {
    const { resource } = params['summary'] as { resource: Uri }
    await link.until(() => JSON.stringify(link.notes(method)).includes(`"resource":"${resource}"`))
  }
  if (method === 'action') await happened(link, params as unknown as Envelope, finish)
}

async function happened(
  link: RawClient,
  { channel, action, origin }: Envelope,
  finish: (turnId: string) => void,
): Promise<void> {
  const { turnId = '' } = action as { turnId?: string }
  const chat = () => link.state(channel) as ChatState | undefined
  if (origin?.clientId === link.clientId)
    await link.until(() => link.pending.every(({ clientSeq }) => clientSeq > origin.clientSeq))
  if (action.type === 'session/ready')
    await link.until(() => (link.state(channel) as SessionState | undefined)?.lifecycle === 'ready')
  if (action.type === 'chat/responsePart')
    await link.until(() => (chat()?.activeTurn?.responseParts.length ?? 0) > 0)
  if (action.type === 'chat/turnComplete') {
    finish(turnId)
    await link.until(() => chat()?.turns.some((turn) => turn.id === turnId) ?? false)
  }
}

/**
 * Learns the URI of a session's default chat from the two snapshots of the session: that of the recorded host and that of
 * this host.
 */
function learn(recorded: Message, answered: Message | undefined, ours: Map<string, Uri>): void {
  const [theirs, own] = [recorded, answered].map(
    (message) =>
      (message?.result as { snapshot?: { state: SessionState } } | undefined)?.snapshot?.state.defaultChat,
  )
  if (theirs !== undefined && own !== undefined) ours.set(theirs, own)
}

function renamed(message: Message, ours: ReadonlyMap<string, Uri>): Message {
  const rename = (_: string, value: unknown) =>
    typeof value === 'string' ? (ours.get(value) ?? value) : value
  return JSON.parse(JSON.stringify(message), rename) as Message
}
