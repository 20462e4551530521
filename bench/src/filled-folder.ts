import { openSqlite } from '@atrium/adapters/store/sqlite'
import type { ChannelCreation, Head, RowChange, Step } from '@atrium/host/ports/log'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { textsOfTurn, timeOfTurn } from './corpus.ts'

/** The sessions of a data folder, and the turns of each. */
export interface Size {
  readonly sessions: number
  readonly turns: number
}

/** The number of working folders that the sessions are spread over. */
const folders = 50

const empty: Step = { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0 }
const provider = 'bench'

/** Fills the store of a data folder with sessions, without a host. Only the turns are stored, and not the actions that made them. */
export async function fill(folder: string, { sessions, turns }: Size): Promise<void> {
  const store = await openSqlite(folder)
  const config = { schema: { type: 'object', properties: {} }, values: {} }
  const root = { agents: [], activeSessions: sessions, config }
  store.log.append({ ...empty, created: [creation(1, rootUri, 'root', root)], upTo: 1 })
  for (let at = 0; at < sessions; at++) {
    const { step, record } = sessionOf(at, turns)
    store.log.append(step)
    store.records.put(...record)
    if (at % 100 === 99) await store.log.flush()
  }
  await store.log.flush()
  await store.log.close()
}

function sessionOf(
  at: number,
  turns: number,
): { readonly step: Step; readonly record: readonly [key: string, text: string] } {
  const seq = 2 + 10 * at
  const session = `ahp-session:/bench-${at}`
  const chat = defaultChatUri(session)
  const title = `Session ${at}`
  const time = new Date(timeOfTurn(at * turns)).toISOString()
  const workingDirectories = [`file:///work/project-${at % folders}`]
  const entry = { resource: chat, title, status: 1, modifiedAt: time }
  const shared = { provider, title, status: 1, workingDirectories, defaultChat: chat }
  const state = { ...shared, lifecycle: 'ready', activeClients: [], chats: [entry] }
  const rows = Array.from({ length: turns }, (_, i) => rowOf(chat, at * turns + i))
  const heads: Head[] = [{ channel: chat, seq: seq + 1, state: JSON.stringify({ ...entry, turns }) }]
  const created = [
    creation(seq, session, 'session', state),
    creation(seq + 1, chat, 'chat', { ...entry, turns: [] }),
  ]
  const { modifiedAt: _, ...listed } = entry
  const summary = { ...shared, resource: session, createdAt: time, modifiedAt: time, chats: [listed] }
  return {
    step: { ...empty, created, rows, heads, upTo: seq + 9 },
    record: [`session/${session}`, `${seq} ${seq}${JSON.stringify(summary)}`],
  }
}

function rowOf(channel: string, turn: number): RowChange {
  const { user, agent } = textsOfTurn(turn)
  const id = `bench-turn-${turn}`
  const message = { text: user, origin: { kind: 'user' } }
  const responseParts = [{ kind: 'markdown', id: `${id}#0`, content: agent }]
  const startedAt = new Date(timeOfTurn(turn)).toISOString()
  const row = { id, startedAt, duration: 5000, message, responseParts, state: 'complete' }
  return { channel, id, text: JSON.stringify(row) }
}

function creation(seq: number, channel: string, kind: string, state: object): ChannelCreation {
  return { seq, channel, kind, state: JSON.stringify(state) }
}
