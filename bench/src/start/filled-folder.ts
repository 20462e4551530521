import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import type { ChannelCreation, Head, RowChange, Step, StoredEnvelope } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { RecordedSession } from './recorded-session.ts'

/** The number of sessions of a data folder, and the number of turns of each. */
export interface Size {
  readonly sessions: number
  readonly turns: number
}

/**
 * Fills the store of a data folder with copies of a recorded session, in large batches and without a host. Returns the number
 * of stored actions.
 */
export async function fill(folder: string, recorded: RecordedSession, size: Size): Promise<number> {
  const store = await openSqlite(folder)
  const root = rootOf(recorded)
  store.log.append({ ...empty, created: [{ ...root, seq: 1 }], upTo: 1 })
  let seq = 1
  let queued = 0
  let actions = 0
  for (let at = 0; at < size.sessions; at++) {
    const copy = copyOf(recorded, at, size.turns, seq)
    store.log.append(copy.step)
    putRecords(store, recorded, copy.rename)
    seq = copy.step.upTo + 1
    store.log.append(counted(root, at + 1, seq))
    actions += copy.step.envelopes.length
    queued += copy.step.envelopes.length
    if (queued < batch) continue
    queued = 0
    await store.log.flush()
  }
  await store.log.flush()
  await store.log.close()
  return actions
}

/** The milliseconds that a new process needs to read the session list of a folder, once its store is open. */
export async function timeToReadList(folder: string, { sessions }: Size): Promise<number> {
  const child = fileURLToPath(new URL('./list-child.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [child, folder])
  const read = JSON.parse(stdout) as { readonly time: number; readonly sessions: number }
  if (read.sessions !== sessions) throw new Error(`the list has ${read.sessions} sessions, not ${sessions}`)
  return read.time
}

/** The number of actions of the recorded turn. */
export function actionsPerTurn(recorded: RecordedSession): number {
  return partsOf(recorded).turn.length
}

const batch = 20_000
const empty: Step = { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0 }

function rootOf({ steps }: RecordedSession): ChannelCreation {
  const root = steps.flatMap(({ created }) => created).find(({ channel }) => channel === rootUri)
  if (!root) throw new Error('the recorded host has no root channel')
  return root
}

/**
 * The transaction in which the root channel counts one more session. As in a host, every thousandth such action is
 * stored with the whole state after it, the head.
 */
function counted({ channel, state }: ChannelCreation, activeSessions: number, seq: number): Step {
  const action = JSON.stringify({ type: 'root/activeSessionsChanged', activeSessions })
  const head = () => ({ channel, seq, state: JSON.stringify({ ...JSON.parse(state), activeSessions }) })
  const heads = activeSessions % 1000 === 0 ? [head()] : []
  return { ...empty, envelopes: [{ seq, channel, action }], heads, upTo: seq }
}

type Rename = (text: string) => string

/** A copy of a session with its own name. The turn is copied as often as wanted, each time with its own id. */
function copyOf(recorded: RecordedSession, at: number, turns: number, before: number) {
  const session = `ahp-session:/copy-${at}`
  const rename: Rename = (text) =>
    text.replaceAll(recorded.session, session).replaceAll(recorded.chat, defaultChatUri(session))
  const { created, first, turn, rows, heads } = partsOf(recorded)
  let seq = before
  const copiedCreations = created.map((each): ChannelCreation => {
    return { ...each, seq: ++seq, channel: rename(each.channel), state: rename(each.state) }
  })
  const envelopes: StoredEnvelope[] = []
  const copiedRows: RowChange[] = []
  const add = (each: StoredEnvelope, text: string) => {
    envelopes.push({ ...each, seq: ++seq, channel: rename(each.channel), action: rename(text) })
  }
  for (const each of first) add(each, each.action)
  for (let number = 0; number < turns; number++) {
    const turnId = `turn-${number}`
    const withId: Rename = (text) => text.replaceAll(recorded.turnId, turnId)
    for (const each of turn) add(each, withId(each.action))
    for (const { channel, text = '' } of rows)
      copiedRows.push({ channel: rename(channel), id: turnId, text: withId(rename(text)) })
  }
  const copiedHeads = heads.map((head): Head => {
    return { channel: rename(head.channel), seq, state: rename(head.state) }
  })
  const step = { created: copiedCreations, envelopes, rows: copiedRows, heads: copiedHeads }
  return { step: { ...empty, ...step, upTo: seq }, rename }
}

/** Removes the checksum of a record (L60), which is that of another name. A record without one is read all the same. */
const unsealed = (text: string) => (text.startsWith('\u0002') ? text.slice(10) : text)

function putRecords(store: Store, { records, session, chat }: RecordedSession, rename: Rename): void {
  for (const [key, text] of records)
    if (key.includes(session) || key.includes(chat)) store.records.put(rename(key), rename(unsealed(text)))
}

/**
 * A recorded session in parts: what is stored before the turn, the actions of the turn, the finished turn (its row),
 * and the last stored state (head) of each channel.
 */
function partsOf({ steps, session, chat }: RecordedSession) {
  const ours = ({ channel }: { readonly channel: string }) => channel === session || channel === chat
  const envelopes = steps.flatMap((step) => step.envelopes).filter(ours)
  const start = envelopes.findIndex(({ action }) => action.includes('"chat/turnStarted"'))
  const lastHeads = new Map(
    steps.flatMap((step) => step.heads.filter(ours)).map((head) => [head.channel, head]),
  )
  return {
    created: steps.flatMap((step) => step.created).filter(ours),
    first: envelopes.slice(0, start),
    turn: envelopes.slice(start),
    rows: steps.flatMap((step) => step.rows).filter((row) => ours(row) && row.text !== undefined),
    heads: [...lastHeads.values()],
  }
}
