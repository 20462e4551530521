import { expect, test } from 'vitest'
import { styled } from '../terminal/output.ts'
import { actionLine } from './log.ts'

const style = styled(false)
const turnId = 't'

/** The line of an action, in an envelope of a client or of the host. */
function lineOf(action: { readonly type: string; readonly [key: string]: unknown }, clientId?: string) {
  const origin = clientId === undefined ? {} : { origin: { clientId, clientSeq: 1 } }
  return actionLine('7', { channel: 'c:/1', serverSeq: 7, action, ...origin }, '', style)
}

const data = (own: object) => ({ _meta: { 'x-atrium': own } })

test('[Z23] [X8] a decision is shown with the client, or with the permission', () => {
  const client = { approved: true, principal: 'owner', clientId: '0123456789' }
  const confirmed = { type: 'chat/toolCallConfirmed', turnId, toolCallId: 'c', approved: true }
  expect(lineOf({ ...confirmed, ...data({ decidedBy: client }) }, '0123456789')).toBe(
    '7  01234567  chat/toolCallConfirmed  true  by client 01234567 (owner)',
  )
  const resultDecidedBy = { ...client, client: { name: 'e\u001bd' } }
  const result = { type: 'chat/toolCallResultConfirmed', turnId, toolCallId: 'c', approved: false }
  expect(lineOf({ ...result, ...data({ decidedBy: client, resultDecidedBy }) }, 'x')).toBe(
    '7  x         chat/toolCallResultConfirmed  false  by e\ufffdd (owner)',
  )
  const ready = { type: 'chat/toolCallReady', turnId, toolCallId: 'c', invocationMessage: 'Go' }
  expect(lineOf({ ...ready, ...data({ decidedBy: { permission: { id: 'p', tool: 'run' } } }) })).toBe(
    '7  host      chat/toolCallReady  Go  by a permission for this session',
  )
})

test('[X8] what another host writes there is not shown as a decision', () => {
  const ready = { type: 'chat/toolCallReady', turnId, toolCallId: 'c', invocationMessage: 'Go' }
  for (const decidedBy of [null, 1, {}, { principal: 'owner' }, { permission: 'all' }])
    expect(lineOf({ ...ready, ...data({ decidedBy }) })).toBe('7  host      chat/toolCallReady  Go')
})

test('[Z23] the members of an object without a text are shown with their values', () => {
  const usage = { inputTokens: 12, outputTokens: 3, _meta: {} }
  expect(lineOf({ type: 'chat/usage', turnId, usage })).toBe(
    '7  host      chat/usage  inputTokens 12, outputTokens 3, _meta …',
  )
})
