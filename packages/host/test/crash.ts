import { guide } from '@atrium/adapters/guide'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect } from 'vitest'
import type { Agent } from '../src/ports/agent.ts'
import { quiet, session } from './held-flushes.ts'
import { room } from './test-host.ts'
import type { Client, Room } from './test-host.ts'
import { accepted, chat, chatOf, sessionOf } from './two-client-session.ts'
import { until } from './scripted-agent.ts'

/** What becomes of a host that dies after so many flushes of what Ann does. */
export interface Wreck {
  readonly all: Room
  readonly ann: Client
  /** The turns that were given to the agent, of this life and the one before. */
  readonly ran: { readonly before: readonly string[]; readonly after: string[] }
  /** All of it was done before the end. */
  readonly whole: boolean
}

/** An agent that notes what it is given. */
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
 * Everything is flushed one by one, and after so many flushes the host dies. What was not flushed is lost, and another
 * host begins on the rest; Ann comes back.
 */
export async function wreckAfter(
  flushes: number,
  act: (ann: Client) => unknown,
  done: (all: Room) => boolean,
  agent?: Agent,
): Promise<Wreck> {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const before: string[] = []
  const ran: string[] = []
  let lines = before
  const played = agent ?? guide((_, task) => (setImmediate(task), () => {}))
  const noted = { push: (...ids: string[]) => lines.push(...ids) } as string[]
  const all = await room({ soon, agents: [counting(played, noted)] })
  const ann = await all.join('ann')
  holding = true
  // What never comes back is not missed: the host it was asked of is gone.
  void Promise.resolve(act(ann)).catch(() => {})
  await quiet()
  for (let n = 0; n < flushes; n++, await quiet()) tasks.shift()?.()
  const whole = done(all) && tasks.length === 0
  holding = false
  lines = ran
  await all.restart('crash')
  agree(all)
  return { all, ann: await all.join('ann'), ran: { before, after: ran }, whole }
}

/** Runs it with a crash after each flush, until nothing is left to be flushed. */
export async function atEveryFlush(
  act: (ann: Client) => unknown,
  done: (all: Room) => boolean,
  judge: (wreck: Wreck) => Promise<void>,
  agent?: () => Agent,
): Promise<number> {
  for (let flushes = 0; ; flushes++) {
    if (flushes > 500) throw new Error('it is never done')
    const wreck = await wreckAfter(flushes, act, done, agent?.())
    await judge(wreck)
    await quiet()
    agree(wreck.all)
    if (wreck.whole) return flushes
  }
}

/** A session and its chat say the same of the chat. */
export function agree(all: Room): void {
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

/** Ann looks at the chat again; nothing where it never came to be. */
export async function looked({ all, ann }: Wreck): Promise<ChatState | undefined> {
  const there = await ann.ask('subscribe', { channel: chat }).then(
    () => true,
    () => false,
  )
  if (!there) return undefined
  await ann.ask('subscribe', { channel: session })
  await until(() => sessionOf(all).lifecycle === 'ready')
  return chatOf(all)
}

/** The turn that was broken off is gone on with until it is done. */
export async function goneOn({ all, ann }: Wreck, turnId: string): Promise<ChatState> {
  if (chatOf(all).turns.at(-1)?.state === 'error')
    await accepted(ann, chat, { type: 'chat/turnResume', turnId })
  await until(() => chatOf(all).activeTurn === undefined)
  return chatOf(all)
}
