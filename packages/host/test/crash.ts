import { guide } from '@atrium/adapters/guide'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect } from 'vitest'
import type { Agent } from '../src/ports/agent.ts'
import { untilIdle, session } from './held-flushes.ts'
import { testHost } from './test-host.ts'
import type { Client, TestHost } from './test-host.ts'
import { accepted, chat, chatOf, sessionOf } from './two-client-session.ts'
import { until } from './scripted-agent.ts'

/** A host that crashed after a number of flushes while Ann was working, and that was started again. */
export interface CrashedRun {
  readonly all: TestHost
  readonly ann: Client
  /** The ids of the turns that the agent was given before the crash and after it. */
  readonly ran: { readonly before: readonly string[]; readonly after: string[] }
  /** Whether Ann's actions were complete and durable before the crash. */
  readonly whole: boolean
}

/** An agent that records the turns that it is given. */
export function counting(agent: Agent, ran: string[]): Agent {
  return {
    ...agent,
    run(given, signal) {
      ran.push(given.turnId)
      return agent.run(given, signal)
    },
  }
}

/**
 * Lets Ann run `act` while flushes are completed one by one, and crashes the host after `flushes` flushes. Everything that
 * was not flushed is lost. Then starts another host on the same store and connects Ann to it.
 */
export async function crashAfter(
  flushes: number,
  act: (ann: Client) => unknown,
  done: (all: TestHost) => boolean,
  agent?: Agent,
): Promise<CrashedRun> {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const before: string[] = []
  const ran: string[] = []
  let running = before
  const base = agent ?? guide((_, task) => (setImmediate(task), () => {}))
  const recorder = { push: (...ids: string[]) => running.push(...ids) } as string[]
  const all = await testHost({ soon, agents: [counting(base, recorder)] })
  const ann = await all.join('ann')
  holding = true
  // Requests to the crashed host are never answered.
  void Promise.resolve(act(ann)).catch(() => {})
  await untilIdle()
  for (let n = 0; n < flushes; n++, await untilIdle()) tasks.shift()?.()
  const whole = done(all) && tasks.length === 0
  holding = false
  running = ran
  await all.restart('crash')
  expectAgreement(all)
  return { all, ann: await all.join('ann'), ran: { before, after: ran }, whole }
}

/** Runs `act` with a crash after 0, 1, 2… flushes, until a run is complete before its crash. */
export async function atEveryFlush(
  act: (ann: Client) => unknown,
  done: (all: TestHost) => boolean,
  judge: (wreck: CrashedRun) => Promise<void>,
  agent?: () => Agent,
): Promise<number> {
  for (let flushes = 0; ; flushes++) {
    if (flushes > 500) throw new Error('the act is not complete after 500 flushes')
    const wreck = await crashAfter(flushes, act, done, agent?.())
    await judge(wreck)
    await untilIdle()
    expectAgreement(wreck.all)
    if (wreck.whole) return flushes
  }
}

/** Expects that the summary of a chat in its session equals the chat's own state. */
export function expectAgreement(all: TestHost): void {
  const state = chatOf(all) as ChatState | undefined
  if (!state) return
  const { status, modifiedAt, activity = '' } = state
  const [entry] = sessionOf(all).chats
  expect({ activity: '', ...entry }).toMatchObject({ status, modifiedAt, activity })
  const needed = (sessionOf(all).inputNeeded ?? []).length > 0
  expect(needed).toBe((status & 16) !== 0)
}

export async function made(ann: Client): Promise<void> {
  await ann.ask('createSession', { channel: session })
}

/** Subscribes Ann to the chat again and returns its state. Undefined if the chat was never created. */
export async function resubscribed({ all, ann }: CrashedRun): Promise<ChatState | undefined> {
  const there = await ann.ask('subscribe', { channel: chat }).then(
    () => true,
    () => false,
  )
  if (!there) return undefined
  await ann.ask('subscribe', { channel: session })
  await until(() => sessionOf(all).lifecycle === 'ready')
  return chatOf(all)
}

/** Resumes the interrupted turn and waits for its end. */
export async function resumedTurn({ all, ann }: CrashedRun, turnId: string): Promise<ChatState> {
  if (chatOf(all).turns.at(-1)?.state === 'error')
    await accepted(ann, chat, { type: 'chat/turnResume', turnId })
  await until(() => chatOf(all).activeTurn === undefined)
  return chatOf(all)
}
