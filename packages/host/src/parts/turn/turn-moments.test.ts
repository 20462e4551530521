import { catalogOf } from '../../catalog/catalog.ts'
import type { Action } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import { untilIdle, session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  delta,
  part,
  twoClientSession,
  started,
  turn,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import { createChat } from '../chat/chat.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { disposeSession } from '../session/session.ts'

// A client may end a turn between any two promises of its agent.

const moments = Array.from({ length: 16 }, (_, n) => n)

async function cancelledAfter(all: TwoClientSession, promises: number): Promise<void> {
  for (let n = 0; n < promises; n++) await Promise.resolve()
  const channel = all.core().log.channel(chat)
  if (channel && chatOf(all).activeTurn && (channel.head as { activeTurn?: object }).activeTurn)
    all.core().log.appendChecked(channel, cancelled('t1') as Action)
  await untilIdle()
}

const delivered = ({ ben }: TwoClientSession) =>
  ben.envelopes.flatMap(({ channel, action }) => (channel === chat ? [action.type] : []))

test.each(moments)(
  '[H9] [H9.1] a turn cancelled %i promises after its agent ended it ends once',
  async (n) => {
    const all = await twoClientSession()
    const run = await turn(all, 't1')
    run.end()
    await cancelledAfter(all, n)
    expect(chatOf(all).turns).toHaveLength(1)
    expect(delivered(all).filter((type) => /Complete|Cancelled|error/.test(type))).toHaveLength(1)
  },
)

test.each(moments)(
  '[H9] [H9.1] a turn cancelled %i promises after a delta appends nothing later',
  async (n) => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    run.say(delta('p', 'a'), delta('p', 'b'), delta('p', 'c'))
    await cancelledAfter(all, n)
    expect(delivered(all).at(-1)).toBe('chat/turnCancelled')
    expect(all.ben.state(chat)).toMatchObject({ turns: chatOf(all).turns })
  },
)

test('[H9] [I14] an agent that never stops does not block others, and is not run further once its turn is over', async () => {
  let yielded = 0
  let left = false
  async function* run() {
    try {
      yield part('p')
      for (;;) {
        yielded++
        yield delta('p', 'x')
      }
    } finally {
      left = true
    }
  }
  const all = await twoClientSession(Object.assign(new ScriptedAgent(), { run }))
  await accepted(all.ann, chat, started('t1'))
  await until(() => yielded > 200)
  await accepted(all.ann, chat, cancelled('t1'))
  await until(() => left)
  const before = yielded
  await untilIdle()
  expect(yielded).toBe(before)
})

test.each(moments)(
  '[H8] createChat fails or its chat is gone when the session is disposed of %i promises later',
  async (n) => {
    const all = await twoClientSession()
    const core = all.core()
    const made = createChat(core, { channel: session, chat: 'ahp-chat:/new' }).then(
      () => 'made',
      (error: unknown) => (error as { code: number }).code,
    )
    for (let promises = 0; promises < n; promises++) await Promise.resolve()
    await disposeSession(core, { channel: session })
    expect(['made', -32001]).toContain(await made)
    await untilIdle()
    expect([core.log.channel('ahp-chat:/new'), catalogOf(core).sessionOf('ahp-chat:/new')]).toEqual([
      undefined,
      undefined,
    ])
    expect(all.world.reports).toEqual([])
  },
)

test.each(moments)('[H7] of two disposals %i promises apart one succeeds', async (n) => {
  const all = await twoClientSession()
  const once = () =>
    disposeSession(all.core(), { channel: session }).then(
      () => 'gone',
      (error: unknown) => (error as { code: number }).code,
    )
  const first = once()
  for (let promises = 0; promises < n; promises++) await Promise.resolve()
  expect(await Promise.all([first, once()])).toEqual(['gone', -32001])
  await until(() => all.agent.disposed.length > 0)
  await untilIdle()
  expect([all.agent.disposed, all.world.reports]).toEqual([[session], []])
})

test('[H9] [H9.2] L7: changing an action object after it was yielded changes nothing', async () => {
  const all = await twoClientSession()
  const made = { kind: 'markdown', id: 'p', content: 'first', _meta: { odd: NaN, none: undefined } }
  const run = await turn(all, 't1', { type: 'chat/responsePart', part: made } as AgentAction)
  made.content = 'changed'
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  const kept = [{ kind: 'markdown', id: 'p', content: 'first', _meta: { odd: null } }]
  expect(chatOf(all).turns[0]?.responseParts).toStrictEqual(kept)
})

test.each([
  ['a bigint', { usage: { _meta: { n: 1n } } }],
  ['a cyclic object', { usage: { _meta: cyclic() } }],
])('[H9] [S-15] an agent that yields %s fails its turn', async (_, output) => {
  const all = await twoClientSession()
  const run = await turn(all, 't1')
  run.say({ type: 'chat/usage', ...output } as AgentAction)
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns[0]?.responseParts).toMatchObject([{ error: { errorType: 'agent' } }])
  expect(all.world.reports).toEqual([])
})

function cyclic(): object {
  const one: { self?: object } = {}
  one.self = one
  return one
}
