import { expect, test } from 'vitest'
import { answer, completed } from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, refused, turn, twoClientSession } from '../../../test/two-client-session.ts'
import { reconnectClient } from '../../../test/held-flushes.ts'
import type { AgentAction } from '../../ports/agent.ts'

const options = [
  { id: 'a', label: 'First' },
  { id: 'b', label: 'Second' },
  { id: 'c', label: 'second' },
]
const text = (value: string) => ({ kind: 'text', value })
const number = (value: number) => ({ kind: 'number', value })
const selected = (value: string) => ({ kind: 'selected', value })

/** A turn with a form of one question. */
async function asked(question: object) {
  const all = await twoClientSession()
  const request = { id: 'r1', questions: [{ id: 'q', message: '?', ...question }] }
  await turn(all, 't1', { type: 'chat/inputRequested', request } as unknown as AgentAction)
  return all
}
const submitted = (value: object) => ({ answers: { q: { state: 'submitted', value } } })

test.each([
  [{ kind: 'number' }, '12', number(12)],
  [{ kind: 'number' }, ' -0.5e2 ', number(-50)],
  [{ kind: 'integer', max: 12 }, '12', number(12)],
  [{ kind: 'boolean' }, 'Yes', { kind: 'boolean', value: true }],
  [{ kind: 'boolean' }, 'false', { kind: 'boolean', value: false }],
  [{ kind: 'single-select', options }, 'b', selected('b')],
  [{ kind: 'single-select', options }, 'first', selected('a')],
  [{ kind: 'single-select', options, allowFreeformInput: true }, 'my own', selected('my own')],
  [{ kind: 'multi-select', options }, 'First', { kind: 'selected-many', value: ['a'] }],
  [
    { kind: 'multi-select', options, allowFreeformInput: true },
    'mine',
    { kind: 'selected-many', value: [], freeformValues: ['mine'] },
  ],
])(
  '[X6.1] %j answered by typing %j: the answer is converted, and all clients see it',
  async (question, typed, stored) => {
    for (const given of [answer('r1', 'q', text(typed)), completed('r1', submitted(text(typed)))]) {
      const all = await asked(question)
      await accepted(all.ann, chat, given)
      await all.ben.until(() => JSON.stringify(all.ben.state(chat)).includes('"answers"'))
      for (const state of [chatOf(all), all.ben.state(chat)])
        expect(state).toMatchObject({
          activeTurn: { responseParts: [{ request: submitted(stored) }] },
        })
    }
  },
)

test.each([
  [{ kind: 'number' }, '1,5'],
  [{ kind: 'number' }, '0x10'],
  [{ kind: 'integer' }, '1.5'],
  [{ kind: 'boolean' }, 'maybe'],
  [{ kind: 'single-select', options }, 'second'],
  [{ kind: 'single-select', options }, 'other'],
])('[X6.1] %j answered by typing %j is refused: it cannot be read in one way', async (question, typed) => {
  const all = await asked(question)
  expect(await refused(all, chat, completed('r1', submitted(text(typed))))).toBe(
    'that is not a valid answer to this question',
  )
})

test.each([
  [{ kind: 'number' }, ''],
  [{ kind: 'single-select', options, allowFreeformInput: true }, ' '],
  [{ kind: 'text', min: 3 }, ''],
])('[X6.1] %j left blank is skipped, unless it is required', async (question, typed) => {
  const all = await asked(question)
  await accepted(all.ann, chat, completed('r1', submitted(text(typed))))
  const answers = { q: { state: 'skipped' } }
  expect(chatOf(all)).toMatchObject({ activeTurn: { responseParts: [{ request: { answers } }] } })
  const strict = await asked({ ...question, required: true })
  expect(await refused(strict, chat, completed('r1', submitted(text(typed))))).toMatch(/required/)
})

test('[X6.1] a converted number must be within its bounds', async () => {
  const all = await asked({ kind: 'integer', max: 10 })
  expect(await refused(all, chat, completed('r1', submitted(text('12'))))).toBe(
    'an answer to this question is at most 10',
  )
})

test('[X6.2] an answer that was converted and is sent again is recognized', async () => {
  const all = await asked({ kind: 'integer' })
  const { lastSeen } = all.ann
  const given = completed('r1', submitted(text('12')))
  const clientSeq = all.ann.dispatch(chat, given)
  const { serverSeq } = await all.ann.echo(clientSeq)
  const { link: again } = await reconnectClient(all, all.ann, lastSeen, [])
  expect(await again.echo(again.dispatch(chat, given, clientSeq))).toMatchObject({
    rejectionReason: `already accepted as ${serverSeq}`,
  })
  const other = completed('r1', submitted(text('13')))
  expect(await again.echo(again.dispatch(chat, other, clientSeq + 1))).toMatchObject({
    rejectionReason: 'no such input request is open',
  })
})
