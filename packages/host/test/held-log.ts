import type { ChatState } from '@atrium/protocol/chat/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { memoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import { Activity } from '@atrium/protocol/status'
import type { Entry, Listener } from '../src/kernel/log/entry.ts'
import { Log } from '../src/kernel/log/log.ts'
import { StepRecords } from '../src/kernel/log/step-records.ts'
import { testWorld } from './world.ts'

type AnyAction = Action & Record<string, unknown>

export const chatUri = 'ahp-chat:/1'
const startedAt = '2026-01-01T00:00:00Z'
export const message = { text: 'go', origin: { kind: 'user' } }
export const chat = { resource: chatUri, title: '', status: Activity.Idle, modifiedAt: startedAt, turns: [] }
export const by = { clientId: 'ann', clientSeq: 1, principal: 'owner' }

export const started = (turnId: string): AnyAction => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt,
  message,
})
export const part = (turnId: string): AnyAction => ({
  type: 'chat/responsePart',
  turnId,
  part: { kind: 'markdown', id: 'p', content: '' },
})
export const delta = (turnId: string, content: string): AnyAction => ({
  type: 'chat/delta',
  turnId,
  partId: 'p',
  content,
})
export const complete = (turnId: string): AnyAction => ({ type: 'chat/turnComplete', turnId, duration: 5 })

/** A log whose flushes are completed only when the test calls `flush`. */
export async function heldLog(options: { headEvery?: number } = {}) {
  const flushes: (() => void)[] = []
  let hold = false
  const store = memoryStore({ soon: (task) => (hold ? void flushes.push(task) : queueMicrotask(task)) })
  const committed: Entry[] = []
  const log = new Log(
    store.log,
    testWorld(),
    { appended: () => {}, committed: (_, entry) => void committed.push(entry), fatal: () => {} },
    { records: new StepRecords(store.records), first: 1000, ...options },
  )
  await log.begin()
  const channel = log.create(chatUri, 'chat', chat)
  await log.settled()
  hold = true
  return { store, log, channel, committed, flush: () => flushes.splice(0).forEach((task) => task()), flushes }
}

/** A listener that keeps every entry it gets. */
export class RecordingListener implements Listener {
  readonly entries: Entry[] = []
  deliver(entry: Entry): void {
    this.entries.push(entry)
  }
  notify(): void {}
  get types(): readonly string[] {
    return this.entries.map((entry) => entry.action.type)
  }
}

/** Waits for the end of the present step. */
export const stepOver = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A chat without turns. */
export function emptyChat(resource: string): ChatState {
  return { resource, title: '', status: Activity.Idle, modifiedAt: '2026-01-01T00:00:00.000Z', turns: [] }
}

/** A terminal that a client has claimed, with a running shell. */
export function heldTerminal(clientId: string): TerminalState {
  return {
    title: '',
    claim: { kind: 'client', clientId },
    content: [],
    lifecycle: { status: 'running' },
  }
}
