import { readFileSync } from 'node:fs'
import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionState } from '@atrium/protocol/session/state'
import { Witness } from './raw-client.ts'
import type { Message } from './raw-client.ts'

/** A line of a recording: a link opens or ends, or a frame goes over it, to the host (`c2s`) or from it. */
interface Line {
  readonly conn: number
  readonly ev?: string
  readonly d?: 'c2s' | 's2c'
  readonly m?: Message
}

export interface Recording {
  readonly lines: readonly Line[]
  /** The agents that the client asked for. */
  readonly providers: readonly string[]
}

export function readRecording(path: string): Recording {
  const text = readFileSync(path, 'utf8').trim()
  const lines = text.split('\n').map((line) => JSON.parse(line) as Line)
  const named = lines.flatMap(({ d, m }) => (d === 'c2s' ? (m?.params?.['provider'] ?? []) : []))
  return { lines, providers: [...new Set(named as string[])] }
}

/**
 * Says again what the client of a recording said, with its ids, its URIs and its numbers. Where the recorded host said
 * something that the client may have waited for, this one has to say it too before it goes on. Gives every link.
 */
export async function replay(
  { lines }: Recording,
  connect: () => Transport,
  finish: (turnId: string) => void,
): Promise<readonly Witness[]> {
  const links = new Map<number, Witness>()
  /** Where the recorded host called a chat by another name than ours does. */
  const ours = new Map<string, Uri>()
  for (const { conn, ev, d, m } of lines) {
    const link = links.get(conn)
    if (ev === 'open') links.set(conn, new Witness(connect(), '0.9.0'))
    else if (ev === 'close') link?.transport.close()
    else if (m && link && d === 'c2s') links.set(conn, speak(link, renamed(m, ours), [...links.values()]))
    else if (m && link && d === 's2c') await expected(link, renamed(m, ours), ours, finish)
  }
  return [...links.values()]
}

/** A client that comes back has what it had; and numbers are each host's own. */
function speak(link: Witness, message: Message, links: readonly Witness[]): Witness {
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

/** Waits for what the recorded host had said by now, where it means something to this client. */
async function expected(
  link: Witness,
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
  link: Witness,
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

/** Both hosts handed over the same session: its chat is the same chat, whatever it is called. */
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
