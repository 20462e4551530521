import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { receive, view } from '@atrium/client/sync/replica'
import type { Replica, PendingAction } from '@atrium/client/sync/replica'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import { reducers } from '@atrium/protocol/reducers'
import { rolldown } from 'rolldown'
import { measure } from './measure.ts'
import type { Variant } from './measure.ts'
import { check, print } from './table.ts'

/** The cost of an action of another client while own actions are pending, and the size of the client bundle. */
export async function clientBench(): Promise<boolean> {
  const fast = [pendingTable(), historyTable()].every(Boolean)
  return (await weights()) && fast
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

const doors = {
  'client and protocol, with every check': {
    goal: 60,
    text: "export { connect } from '@atrium/client/connect'",
  },
  'the same without checks': {
    goal: 25,
    text: [
      "export { Client } from '@atrium/client/client'",
      "export { trusting } from '@atrium/client/shared/check'",
      "export { openSocket } from '@atrium/client/link/websocket'",
      "export { newId, world } from '@atrium/client/shared/globals'",
    ].join('\n'),
  },
}

async function weights(): Promise<boolean> {
  console.log('\nbundle size, minified and gzipped')
  // Inside the repository, so that its packages are found.
  const folder = await mkdtemp(fileURLToPath(new URL('../dist/bundle-', import.meta.url)))
  try {
    const met: boolean[] = []
    for (const [what, { goal, text }] of Object.entries(doors)) {
      const input = join(folder, 'door.js')
      await writeFile(input, text)
      const bundle = await rolldown({ input, logLevel: 'silent' })
      const { output } = await bundle.generate({ minify: true })
      const code = output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
      const kilobytes = gzipSync(code, { level: 9 }).length / 1024
      met.push(check(what, `${kilobytes.toFixed(1)} KB, aim ${goal} KB`, kilobytes <= goal))
    }
    return met.every(Boolean)
  } finally {
    await rm(folder, { recursive: true })
  }
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
  const wish = (n: number): PendingAction => ({
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
  return { confirmed, seq: 1, pending: Array.from({ length: pending }, (_, n) => wish(n)) }
}
