import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { describe, expect, test } from 'vitest'
import {
  toolCallStarted,
  call,
  confirmed,
  mcp,
  ready,
  resultConfirmed,
  signIn,
  unseen,
} from '../../test/tool-call-actions.ts'
import { untilIdle, session } from '../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import type { Run } from '../../test/scripted-agent.ts'
import type { Client } from '../../test/test-host.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  says,
  twoClientSession,
  sessionOf,
  started,
} from '../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../test/two-client-session.ts'
import type { AgentAction } from '../ports/agent.ts'

/** One step of a tool call: an action, and the state of the call after it. */
interface Step {
  readonly said?: AgentAction
  readonly answered?: AnyAction
  readonly signedIn?: true
  readonly stands: object
  /** The kind of the entry that the call has in the session's `inputNeeded`; undefined where it has none. */
  readonly needs?: string
}

const options = [{ id: 'go', label: 'Go', kind: 'approve' }]
const edits = { items: [{ after: { uri: 'file:///a/x', content: { uri: 'x:/1' } }, diff: { added: 1 } }] }
const risk = { kind: 'judge', status: 'complete', reason: 'It only looks', safety: 0.9 }
const shown = [{ type: 'text', text: 'half' }]
const delta = (content: string) => ({ type: 'chat/toolCallDelta', ...call, content }) as AgentAction
const live = { type: 'chat/toolCallContentChanged', ...call, content: shown } as AgentAction
const asked = ready({ toolInput: '{"a":1}', editable: true, edits, options, riskAssessment: risk })
const again = ready({ confirmationTitle: 'Really?', editable: false })
const edited = { ...confirmed, editedToolInput: '{"a":2}', selectedOptionId: 'go' }
const confirms = { needs: 'toolConfirmation' }

const way: readonly Step[] = [
  { said: toolCallStarted(mcp), stands: { status: 'streaming' } },
  { said: delta('{"a"'), stands: { partialInput: '{"a"' } },
  { said: delta(':1}'), stands: { partialInput: '{"a":1}' } },
  {
    said: ready({ toolInput: '{"a":1}', riskAssessment: { kind: 'judge', status: 'loading' } }),
    stands: { status: 'pending-confirmation', riskAssessment: { status: 'loading' }, toolInput: '{"a":1}' },
    ...confirms,
  },
  {
    said: asked,
    stands: { status: 'pending-confirmation', editable: true, edits, options, riskAssessment: risk },
    ...confirms,
  },
  {
    answered: edited,
    stands: {
      status: 'running',
      toolInput: '{"a":2}',
      confirmed: 'user-action',
      selectedOption: { id: 'go' },
    },
  },
  { said: live, stands: { status: 'running', content: shown } },
  {
    said: again,
    stands: { status: 'pending-confirmation', confirmationTitle: 'Really?', toolInput: '{"a":2}' },
    ...confirms,
  },
  { answered: confirmed, stands: { status: 'running', toolInput: '{"a":2}', confirmed: 'user-action' } },
  { said: signIn, stands: { status: 'auth-required' }, needs: 'toolAuthentication' },
  { signedIn: true, stands: { status: 'running', confirmed: 'user-action' } },
  { said: unseen, stands: { status: 'pending-result-confirmation', success: true }, ...confirms },
  { answered: resultConfirmed, stands: { status: 'completed', success: true, toolInput: '{"a":2}' } },
]

const callOf = (all: TwoClientSession): ToolCallState | undefined => {
  const { activeTurn, turns } = chatOf(all)
  const [part] = (activeTurn ?? turns.at(-1))?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const needed = (all: TwoClientSession) => (sessionOf(all).inputNeeded ?? []).map(({ kind }) => kind)

async function go(all: TwoClientSession, run: Run, ann: Client, step: Step): Promise<void> {
  if (step.said) await says(all, run, step.said)
  if (step.answered) await accepted(ann, chat, step.answered)
  if (step.signedIn) await ann.ask('authenticate', { resource: 'https://x.example', token: 'T' })
  expect(callOf(all)).toMatchObject(step.stands)
  expect(needed(all)).toEqual(step.needs === undefined ? [] : [step.needs])
  // A user who has not opened the chat decides by the entry in `inputNeeded`. So the entry must be current.
  if (step.needs !== undefined)
    expect(sessionOf(all).inputNeeded).toMatchObject([{ chat, turnId: 't1', toolCall: callOf(all) }])
}

/** Starts a turn, and takes its tool call through this number of steps. */
async function gone(steps: number): Promise<{ readonly all: TwoClientSession; readonly run: Run }> {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given()
  for (const step of way.slice(0, steps)) await go(all, run, all.ann, step)
  return { all, run }
}

test('[X1] a call goes through all its states, and every subscriber sees each of them', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, chat, started('t1'))
  const run = await all.agent.given()
  for (const step of way) {
    await go(all, run, all.ann, step)
    await all.ben.until(() => all.ben.lastSeen >= all.ann.lastSeen)
    expect(all.ben.state(chat)).toEqual(chatOf(all))
    expect(all.ben.state(session)).toEqual(sessionOf(all))
  }
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns[0]).toMatchObject({
    state: 'complete',
    responseParts: [{ toolCall: callOf(all) }],
  })
})

const points = way.map(({ stands }, n) => [n + 1, JSON.stringify(stands).slice(0, 60)] as const)

describe('[X1] a call whose turn ends is skipped, whatever its state', () => {
  const ends: readonly (readonly [how: string, end: (all: TwoClientSession, run: Run) => unknown])[] = [
    ['cancelled', ({ ann }) => accepted(ann, chat, cancelled('t1'))],
    ['done', (_, run) => run.end()],
    ['failed', (_, run) => run.fail(new Error('x'))],
  ]
  test.each(points.flatMap(([steps, where]) => ends.map(([how, end]) => [steps, where, how, end] as const)))(
    'after step %i, %s: %s',
    async (steps, _, _how, end) => {
      const { all, run } = await gone(steps)
      await end(all, run)
      await until(() => chatOf(all).turns.length === 1)
      const last = callOf(all)
      if (steps === way.length) expect(last?.status).toBe('completed')
      else expect(last).toMatchObject({ status: 'cancelled', reason: 'skipped' })
      expect(Object.keys(last ?? {})).not.toContain('options')
      expect(sessionOf(all)).not.toHaveProperty('inputNeeded')
      const late = [confirmed, resultConfirmed]
      for (const action of late)
        expect((await all.ben.echo(all.ben.dispatch(chat, action))).rejectionReason).toBe(
          'no such turn is in progress',
        )
      expect(callOf(all)).toEqual(last)
    },
  )
})

describe('[X5] a host dies while a call waits for a user: it still waits, and the rest happens once', () => {
  const asking = way.flatMap(({ needs, stands }, n) =>
    needs === undefined ? [] : [[n + 1, stands] as const],
  )
  test.each(asking)('after step %i: %j', async (steps, stands) => {
    const { all } = await gone(steps)
    const before = callOf(all)
    for (const how of ['crash', 'close'] as const) {
      await all.restart(how)
      await untilIdle()
      expect(callOf(all)).toEqual(before)
      expect(needed(all)).toEqual([way[steps - 1]?.needs])
    }
    expect(before).toMatchObject(stands)
    expect(all.agent.runs).toHaveLength(1)
    const ann = await all.join('ann', { subscribe: [session, chat] })
    const [first, ...others] = way.slice(steps).filter(({ said }) => said !== asked)
    if (!first) throw new Error('there is no answer')
    // If the host died before the agent sent its options, the user can only confirm: there is no option to choose, and
    // the input cannot be edited.
    const plain = steps < 5 ? { answered: confirmed, stands: { status: 'running' } } : first
    if (plain.answered) await accepted(ann, chat, plain.answered)
    if (plain.signedIn) await ann.ask('authenticate', { resource: 'https://x.example', token: 'T' })
    const run = await all.agent.given(1)
    for (const step of others) await go(all, run, ann, { ...step, stands: { status: statusIn(step) } })
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    expect(chatOf(all).turns[0]).toMatchObject({ id: 't1', state: 'complete' })
    expect([callOf(all)?.status, all.agent.runs.length]).toEqual(['completed', 2])
  })
})

function statusIn({ stands }: Step): unknown {
  return (stands as { readonly status?: string }).status ?? expect.anything()
}
