import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../test/hostless-chat.ts'
import type { Run } from '../../../test/hostless-chat.ts'
import type { Agent } from '../agent.ts'
import { TurnFailed } from '../agent.ts'
import { callsOf } from '@atrium/protocol/chat/calls'

export interface RoughScript {
  /** Ends the agent as a crash of the machine would. */
  readonly kill: (agent: Agent) => Promise<void>
  /**
   * A message that leads to one tool call, which asks for confirmation and then acts. `runs` returns how often the call has
   * acted.
   */
  readonly asking: { readonly text: string; readonly runs: () => number }
  /** Messages at which the agent fails, one message for each way to fail. */
  readonly breaking: readonly string[]
  /** A message that the agent never answers. */
  readonly hanging: string
  /**
   * A message with a very long answer, the number of words in the answer, and the number of words that the agent has produced
   * so far.
   */
  readonly flood: { readonly text: string; readonly words: number; readonly produced: () => number }
}

/**
 * Tests of denied calls, slow readers and failures, for every agent. `open` returns an agent that remembers nothing of an
 * earlier one.
 */
export function roughAgentContract(
  name: string,
  open: () => Agent | Promise<Agent>,
  { kill, asking, breaking, hanging, flood }: RoughScript,
): void {
  test(`[N2] ${name}: an approved call acts once, and a denied one does not`, async () => {
    for (const approved of [true, false]) {
      const stage = new HostlessChat(await open())
      const before = asking.runs()
      const run = stage.begin(asking.text)
      const call = await asked(stage, run)
      expect(asking.runs()).toBe(before)
      decide(stage, call, approved)
      const turn = await run.end()
      expect([turn.state, asking.runs() - before]).toEqual(['complete', approved ? 1 : 0])
      const status = callsOf(turn.responseParts).map((each) => each.status)
      expect(status).toEqual([approved ? 'completed' : 'cancelled'])
    }
  })

  test(`[N2] ${name}: a turn aborted while it asks does nothing, and the next message is answered`, async () => {
    const stage = new HostlessChat(await open())
    const before = asking.runs()
    const run = stage.begin(asking.text)
    await asked(stage, run)
    await run.cut()
    const again = stage.begin(asking.text)
    const call = await asked(stage, again)
    expect(asking.runs()).toBe(before)
    decide(stage, call, true)
    expect([(await again.end()).state, asking.runs() - before]).toEqual(['complete', 1])
  })

  test.for([true, false])(
    `[N3] ${name}: a call that is decided (approved: %s) while the host is down acts accordingly`,
    async (approved, { skip }) => {
      const first = await open()
      if (!first.resumes) skip()
      const stage = new HostlessChat(first)
      const before = asking.runs()
      const run = stage.begin(asking.text)
      const call = await asked(stage, run)
      await kill(first)
      await run.die()
      decide(stage, call, approved)
      const next = stage.continueWith(await open())
      const turn = await endedWith(stage, next, approved)
      expect([turn.state, asking.runs() - before]).toEqual(['complete', approved ? 1 : 0])
      expect(callsOf(turn.responseParts).filter((each) => each.status === 'running')).toEqual([])
    },
  )

  test.each(breaking)(
    `[N1.4] [N1] ${name}: %j fails with a message, and the next message is answered`,
    async (text) => {
      const stage = new HostlessChat(await open())
      const run = stage.begin(text)
      const turn = await run.end()
      expect(run.failure).toBeInstanceOf(TurnFailed)
      expect(turn.state).toBe('error')
      expect((await stage.turn('hello')).state).toBe('complete')
    },
  )

  test(`[N2] ${name}: a turn that hangs is left at once, and the next message is answered`, async () => {
    const stage = new HostlessChat(await open())
    const run = stage.begin(hanging)
    const next = run.step()
    await new Promise((resolve) => setImmediate(resolve))
    run.abort()
    while (await next);
    await run.cut()
    expect((await stage.turn('hello')).state).toBe('complete')
  })

  test(`[N7] ${name}: an agent waits for a slow reader, and no output is lost`, async () => {
    const stage = new HostlessChat(await open())
    const run = stage.begin(flood.text)
    for (let i = 0; i < 10; i++) await run.step()
    const produced = await rested(flood.produced)
    expect(produced).toBeLessThan(flood.words / 5)
    const turn = await run.end()
    const text = turn.responseParts.map((part) => (part.kind === 'markdown' ? part.content : '')).join('')
    expect([turn.state, text.split(' ').length - 1]).toEqual(['complete', flood.words])
  })
}

/** Runs the turn until a tool call asks for confirmation, and returns the call. */
async function asked(stage: HostlessChat, run: Run): Promise<ToolCallState> {
  for (;;) {
    if (!(await run.step())) throw new Error('no call asked')
    const found = callsOf(stage.state.activeTurn?.responseParts ?? []).find(
      ({ status }) => status === 'pending-confirmation',
    )
    if (found) return found
  }
}

/** Runs the turn to its end. Every tool call that asks for confirmation, even repeatedly, gets the same answer. */
async function endedWith(stage: HostlessChat, run: Run, approved: boolean) {
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

function decide(stage: HostlessChat, { toolCallId }: ToolCallState, approved: boolean): void {
  const turnId = stage.state.activeTurn?.id ?? ''
  const how = approved
    ? ({ approved, confirmed: 'user-action' } as const)
    : ({ approved, reason: 'denied' } as const)
  stage.fold({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...how })
}

/** Waits until a count has stopped growing, and returns it. */
async function rested(count: () => number): Promise<number> {
  for (let last = -1, same = 0; ;) {
    const now = count()
    same = now === last ? same + 1 : 0
    if (same >= 10) return now
    last = now
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** Tests for an agent that calls the tools of clients. */
export function offeredToolContract(
  name: string,
  open: () => Agent | Promise<Agent>,
  calling: (tool: string, input: string) => string,
): void {
  const begin = async (tool: ToolDefinition) => {
    const stage = new HostlessChat(await open())
    stage.session = { ...stage.session, activeClients: [{ clientId: 'ann', tools: [tool] }] }
    const run = stage.begin(calling('count_lines', '{"path":"a"}'))
    while (!clientCall(stage) && (await run.step()));
    while (clientCall(stage)?.status === 'streaming' && (await run.step()));
    return { stage, run }
  }

  test(`[X9] ${name}: it calls the tool of a client, and goes on when the client has completed the call`, async () => {
    const { stage, run } = await begin({ name: 'count_lines' })
    expect(clientCall(stage)).toMatchObject({
      status: 'running',
      toolName: 'count_lines',
      contributor: { kind: 'client', clientId: 'ann' },
      confirmed: 'not-needed',
      toolInput: '{"path":"a"}',
    })
    expect(run.said.some(({ type }) => type === 'chat/toolCallDelta')).toBe(true)
    completeCall(stage)
    const turn = await run.end()
    expect([turn.state, run.failure]).toEqual(['complete', undefined])
    expect(run.said.filter(({ type }) => type === 'chat/toolCallStart')).toHaveLength(1)
    expect(run.said.filter(({ type }) => type === 'chat/toolCallComplete')).toEqual([])
    expect(turn.responseParts.at(-1)?.kind).toBe('markdown')
  })

  test(`[X9.3] ${name}: a destructive tool of a client waits for a person, and is not called again after a denial`, async () => {
    const { stage, run } = await begin({ name: 'count_lines', annotations: { destructiveHint: true } })
    const { toolCallId = '', status } = clientCall(stage) ?? {}
    expect(status).toBe('pending-confirmation')
    const denied = { approved: false, reason: 'denied' } as const
    const { id: turnId = '' } = stage.state.activeTurn ?? {}
    stage.fold({ type: 'chat/toolCallConfirmed', turnId, toolCallId, ...denied })
    expect((await run.end()).state).toBe('complete')
    expect(run.said.filter(({ type }) => type === 'chat/toolCallStart')).toHaveLength(1)
  })

  test(`[X9] I6 ${name}: a call that was completed while the host was down is not made again`, async () => {
    const { stage, run } = await begin({ name: 'count_lines' })
    await run.die()
    completeCall(stage)
    const again = stage.continueWith(await open())
    expect((await again.end()).state).toBe('complete')
    expect(again.said.filter(({ type }) => type === 'chat/toolCallStart')).toEqual([])
  })
}

function clientCall({ state }: HostlessChat) {
  return callsOf(state.activeTurn?.responseParts).find(({ contributor }) => contributor?.kind === 'client')
}

/** Completes the running call of a client's tool, as the client would. */
function completeCall(stage: HostlessChat): void {
  const result = {
    success: true,
    pastTenseMessage: 'Counted',
    content: [{ type: 'text', text: '42' }],
  } as const
  const { toolCallId = '' } = clientCall(stage) ?? {}
  stage.fold({ type: 'chat/toolCallComplete', turnId: stage.state.activeTurn?.id ?? '', toolCallId, result })
}
