import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import { Stage } from '../../test/hostless-chat.ts'
import type { Run } from '../../test/hostless-chat.ts'
import type { Agent } from './agent.ts'
import { TurnFailed } from './agent.ts'
import { callsOf } from '@atrium/protocol/chat/calls'

export interface RoughScript {
  /** The machine goes down under it. */
  readonly kill: (agent: Agent) => Promise<void>
  /** A message with one call that asks, and then does something; how often that was done, in all. */
  readonly asking: { readonly text: string; readonly deeds: () => number }
  /** What makes it break, in each of its ways. */
  readonly breaking: readonly string[]
  /** What it never answers. */
  readonly hanging: string
  /** More words than anybody should keep, and how many of them it has said until now, heard or not. */
  readonly flood: { readonly text: string; readonly words: number; readonly said: () => number }
}

/** What every agent must do where somebody says no, nobody listens, or it breaks. `open` gives one that has nothing in memory. */
export function roughAgentContract(
  name: string,
  open: () => Agent | Promise<Agent>,
  { kill, asking, breaking, hanging, flood }: RoughScript,
): void {
  test(`[N2] ${name}: a call that is allowed is done once, and one that is denied is not`, async () => {
    for (const approved of [true, false]) {
      const stage = new Stage(await open())
      const before = asking.deeds()
      const run = stage.begin(asking.text)
      const call = await asked(stage, run)
      expect(asking.deeds()).toBe(before)
      decide(stage, call, approved)
      const turn = await run.end()
      expect([turn.state, asking.deeds() - before]).toEqual(['complete', approved ? 1 : 0])
      const status = callsOf(turn.responseParts).map((each) => each.status)
      expect(status).toEqual([approved ? 'completed' : 'cancelled'])
    }
  })

  test(`[N2] ${name}: what is aborted while it asks does nothing, and the next message is answered`, async () => {
    const stage = new Stage(await open())
    const before = asking.deeds()
    const run = stage.begin(asking.text)
    await asked(stage, run)
    await run.cut()
    const again = stage.begin(asking.text)
    const call = await asked(stage, again)
    expect(asking.deeds()).toBe(before)
    decide(stage, call, true)
    expect([(await again.end()).state, asking.deeds() - before]).toEqual(['complete', 1])
  })

  test.for([true, false])(
    `[N3] ${name}: a host that died while it asked: allowed (%s) meanwhile, it is done as it was decided`,
    async (approved, { skip }) => {
      const first = await open()
      if (!first.resumes) skip()
      const stage = new Stage(first)
      const before = asking.deeds()
      const run = stage.begin(asking.text)
      const call = await asked(stage, run)
      await kill(first)
      await run.die()
      decide(stage, call, approved)
      const next = stage.takeUp(await open())
      const turn = await endedWith(stage, next, approved)
      expect([turn.state, asking.deeds() - before]).toEqual(['complete', approved ? 1 : 0])
      expect(callsOf(turn.responseParts).filter((each) => each.status === 'running')).toEqual([])
    },
  )

  test.each(breaking)(`[N1] ${name}: %j ends in words, and the next message is answered`, async (text) => {
    const stage = new Stage(await open())
    const run = stage.begin(text)
    const turn = await run.end()
    expect(run.failure).toBeInstanceOf(TurnFailed)
    expect(turn.state).toBe('error')
    expect((await stage.turn('hello')).state).toBe('complete')
  })

  test(`[N2] ${name}: one that hangs is left at once, and the next message is answered`, async () => {
    const stage = new Stage(await open())
    const run = stage.begin(hanging)
    const next = run.step()
    await new Promise((resolve) => setImmediate(resolve))
    run.abort()
    while (await next);
    await run.cut()
    expect((await stage.turn('hello')).state).toBe('complete')
  })

  test(`[N7] ${name}: one that is not listened to has to wait, and nothing of it is lost`, async () => {
    const stage = new Stage(await open())
    const run = stage.begin(flood.text)
    for (let i = 0; i < 10; i++) await run.step()
    const said = await rested(flood.said)
    expect(said).toBeLessThan(flood.words / 5)
    const turn = await run.end()
    const text = turn.responseParts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
    expect([turn.state, text.split(' ').length - 1]).toEqual(['complete', flood.words])
  })
}

/** The call that the turn has come to a stop at. */
async function asked(stage: Stage, run: Run): Promise<ToolCallState> {
  for (;;) {
    if (!(await run.step())) throw new Error('nothing was asked')
    const found = callsOf(stage.state.activeTurn?.responseParts ?? []).find(
      ({ status }) => status === 'pending-confirmation',
    )
    if (found) return found
  }
}

/** Whoever is asked again says the same again. */
async function endedWith(stage: Stage, run: Run, approved: boolean) {
  const watch = () => {
    const calls = callsOf(stage.state.activeTurn?.responseParts ?? [])
    const open = calls.find(({ status }) => status === 'pending-confirmation')
    if (open) queueMicrotask(() => decide(stage, open, approved))
  }
  stage.watchers.add(watch)
  const turn = await run.end()
  stage.watchers.delete(watch)
  return turn
}

function decide(stage: Stage, { toolCallId }: ToolCallState, approved: boolean): void {
  const turnId = stage.state.activeTurn?.id ?? ''
  const how = approved
    ? ({ approved, confirmed: 'user-action' } as const)
    : ({ approved, reason: 'denied' } as const)
  stage.fold({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...how })
}

/** A count that does not grow any more. */
async function rested(count: () => number): Promise<number> {
  for (let last = -1, same = 0; ;) {
    const now = count()
    same = now === last ? same + 1 : 0
    if (same >= 10) return now
    last = now
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
