import { expect, test } from 'vitest'
import { call, running, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import { delta, part, says } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  ends,
  envelopesOf,
  expectInStep,
  fresh,
  olderSession,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.1.0'
const thinking: AgentAction = { type: 'chat/responsePart', part: { kind: 'reasoning', id: 'r', content: '' } }
const thinks: AgentAction = { type: 'chat/reasoning', partId: 'r', content: 'Hm.' }

test('[R000-87 R000-88 R000-89 R000-90 R000-94 R000-98 R001-48 R001-70] text, reasoning, calls and notices are parts of one list in their order; a part is created, and then text is appended by its id', async () => {
  const all = await olderSession(version)
  const { ben, session } = all
  const run = await turnOf(
    all,
    't1',
    thinking,
    thinks,
    part('p'),
    delta('p', 'Hello '),
    delta('p', 'there. '),
    toolCallStarted(),
    running,
    part('q'),
    delta('q', 'Done.'),
    { type: 'chat/responsePart', part: { kind: 'systemNotification', content: 'Compacted.' } },
  )
  await says(all, run, {
    type: 'chat/toolCallComplete',
    ...call,
    result: { success: true, pastTenseMessage: 'Ran X' },
  } as AgentAction)
  await ends(all, run)
  const [turn] = ben.state(session)['turns'] as readonly Value[]
  const parts = turn?.['responseParts'] as readonly Value[]
  expect(parts).toMatchObject([
    { kind: 'reasoning', id: 'r', content: 'Hm.' },
    { kind: 'markdown', id: 'p', content: 'Hello there. ' },
    { kind: 'toolCall', toolCall: { ...call, status: 'completed', toolName: 'x', displayName: 'X' } },
    { kind: 'markdown', id: 'q', content: 'Done.' },
    { kind: 'systemNotification', content: 'Compacted.' },
  ])
  const text = parts.flatMap(({ kind, content }) => (kind === 'markdown' ? [content] : [])).join('')
  expect(text).toBe('Hello there. Done.')
  const at = (type: string, id: string) =>
    ben.envelopes.findIndex(
      ({ action }) => action.type === type && (action['partId'] ?? (action['part'] as Value)?.['id']) === id,
    )
  for (const [id, type] of [
    ['r', 'session/reasoning'],
    ['p', 'session/delta'],
    ['q', 'session/delta'],
  ] as const)
    expect(at('session/responsePart', id)).toBeLessThan(at(type, id))
  for (const { action } of envelopesOf(ben, 'session/delta'))
    expect(action).toMatchObject({
      turnId: 't1',
      partId: expect.any(String),
      content: expect.any(String),
      session,
    })
  await expectInStep(all)
})

test('[R000-91 R000-92 R000-96 R000-97 R001-71 R001-72 R001-73 R001-74 R001-75] a content reference names large content outside of the state, which a client reads', async () => {
  const all = await olderSession(version)
  const { ben, session } = all
  const run = await turnOf(all, 't1')
  const text = 'long '.repeat(1000)
  const kept = await run.chat.keep(new TextEncoder().encode(text), 'text/plain')
  await says(all, run, { type: 'chat/responsePart', part: { kind: 'contentRef', ...kept } } as AgentAction)
  await ends(all, run)
  const state = await fresh(all, session)
  const [turn] = state['turns'] as readonly { readonly responseParts: readonly Value[] }[]
  const [reference] = turn?.responseParts ?? []
  expect(reference).toMatchObject({
    kind: 'contentRef',
    uri: expect.stringMatching(/^ahp-content:\/[0-9a-f]+\?mock%3A%2Fone$/),
    sizeHint: text.length,
    contentType: 'text/plain',
  })
  expect(JSON.stringify(state)).not.toContain('long long')
  const read = await ben.ask('resourceRead', { uri: reference?.['uri'], encoding: 'utf-8' })
  expect(read).toMatchObject({ data: text, encoding: 'utf-8' })
  await expectInStep(all)
})
