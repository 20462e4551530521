import { receive, view } from '@atrium/client/sync/replica'
import type { Replica, PendingAction } from '@atrium/client/sync/replica'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import { reducers } from '@atrium/protocol/reducers'
import { measure } from './measure.ts'
import type { Variant } from './measure.ts'
import { print } from './table.ts'
import { weightTable } from './weight.ts'

/**
 * Measures what another client's action costs a client that has pending actions of its own, and the size of the
 * client bundle.
 */
export async function clientBench(): Promise<boolean> {
  const fast = [pendingTable(), historyTable()].every(Boolean)
  return (await weightTable()) && fast
}

function pendingTable(): boolean {
  const counts = [0, 10, 100]
  const best = measure(counts.map((count) => deltas(`${count}`, replicaWith(count, 10))))
  const none = best.get('0') ?? NaN
  const ten = best.get('10') ?? NaN
  return print(
    'a chat/delta of another client, reduced and shown, by own pending actions (linear: 100 cost at most 12 times 10)',
    counts.map((count) => {
      const ns = best.get(`${count}`) ?? NaN
      const goal = count === 100 ? { goal: Math.round((12 * ten) / none) } : {}
      return { what: `${count} pending`, ns, ratio: ns / none, ...goal }
    }),
  )
}

function historyTable(): boolean {
  const counts = [10, 2000]
  const best = measure(counts.map((count) => deltas(`${count}`, replicaWith(10, count))))
  const few = best.get('10') ?? NaN
  return print(
    'the same with 10 pending actions, by finished turns in the chat (constant)',
    counts.map((count) => {
      const ns = best.get(`${count}`) ?? NaN
      return { what: `${count} turns`, ns, ratio: ns / few, ...(count === 2000 && { goal: 1.5 }) }
    }),
  )
}

function deltas(name: string, initial: Replica<ChatState>): Variant {
  const count = 500
  const action = { type: 'chat/delta', turnId: 't', partId: 'p', content: 'a few words ' }
  const run = () => {
    let replica = initial
    for (let n = 0; n < count; n++) {
      const envelope = { channel: 'ahp-chat:/1', serverSeq: replica.seq + 1, action }
      replica = receive(reducers.chat, replica, envelope, 'me')
      if (view(reducers.chat, replica) === initial.confirmed) throw new Error('nothing was shown')
    }
  }
  return { name, count, run }
}

function replicaWith(pending: number, turns: number): Replica<ChatState> {
  const message = { text: 'go', origin: { kind: 'user' as const } }
  const startedAt = '2026-01-01T00:00:00.000Z'
  const turn = (n: number): Turn => ({
    id: `t${n}`,
    startedAt,
    message,
    responseParts: [],
    state: 'complete',
  })
  const pendingAction = (n: number): PendingAction => ({
    clientSeq: n + 1,
    channel: 'ahp-chat:/1',
    action: { type: 'chat/draftChanged', draft: { ...message, text: `draft ${n}` } } as never,
  })
  const confirmed: ChatState = {
    resource: 'ahp-chat:/1',
    title: 'bench',
    status: 8,
    modifiedAt: startedAt,
    turns: Array.from({ length: turns }, (_, n) => turn(n)),
    activeTurn: { id: 't', startedAt, message, responseParts: [{ kind: 'markdown', id: 'p', content: '' }] },
  }
  return { confirmed, seq: 1, pending: Array.from({ length: pending }, (_, n) => pendingAction(n)) }
}
