import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import type { SessionEvent } from '../session/events.ts'
import { styled } from '../terminal/output.ts'
import { Markdown } from './markdown.ts'
import { Narrator } from './narrator.ts'

const style = styled(true)
const turn = {
  id: 't',
  startedAt: '',
  message: { text: 'hi\nyou', origin: { kind: 'user' } },
  responseParts: [],
} as const

function narrated(...events: readonly SessionEvent[]): string {
  return narratedBy(undefined, ...events)
}

/** `steers`: whether the agent takes messages while it works. */
function narratedBy(steers: boolean | undefined, ...events: readonly SessionEvent[]): string {
  let out = ''
  const sink = {
    text: (piece: string) => void (out += piece),
    note: (line: string) => void (out += `[${line}]\n`),
    endLine: () => void (out += out.endsWith('\n') ? '' : '\n'),
  }
  const text = () => new Markdown({ style, colour: true, columns: () => 40 })
  const narrator = new Narrator({
    sink,
    style: styled(false),
    text,
    messages: true,
    takesSteering: () => steers,
  })
  for (const event of events) narrator.show(event)
  narrator.end()
  return out
}

const says = (text: string, part = 'p'): SessionEvent => ({ kind: 'text', turnId: 't', part, text })
const notice: SessionEvent = { kind: 'notice', turnId: 't', text: 'a\u001b\nnotice' }

test('[Z8.8] a message for the active turn goes after it, if the agent takes none while it works', () => {
  const message = { id: 'm', message: { text: 'left', origin: { kind: 'user' as const } } }
  const pending: SessionEvent = { kind: 'pending', as: 'steering', message }
  expect(narratedBy(true, pending)).toBe('[· will steer the turn: left]\n')
  expect(narratedBy(undefined, pending)).toBe('[· will steer the turn: left]\n')
  expect(narratedBy(false, pending)).toBe('[· after this turn: left]\n')
  expect(narratedBy(false, { ...pending, as: 'queued' })).toBe('[· waits: left]\n')
})

test('[Z9] interrupted text continues in its format: code stays code', () => {
  expect(narrated(says('```\na\nb'), notice, says('c\n# d\n```\n# e'))).toBe(
    '\u001b[2m```\u001b[22m\n\u001b[36ma\u001b[39m\n\u001b[36mb\u001b[39m\n[· a\ufffd notice]\n' +
      '\u001b[36mc\u001b[39m\n\u001b[36m# d\u001b[39m\n\u001b[2m```\u001b[22m\n\u001b[1me\u001b[22m\n',
  )
  expect(narrated(says('one tw'), notice, says('o three'))).toBe('one tw\n[· a\ufffd notice]\no three\n')
})

/** The `_meta` of a call with the decisions that a host recorded. */
const decided = (decidedBy: object, resultDecidedBy?: object) => ({
  _meta: { 'x-atrium': { decidedBy, resultDecidedBy } },
})
const editor = { approved: true, principal: 'owner', clientId: 'e', client: { name: 'edi\u001b\ntor' } }

test('[Z9] [X8] each part begins a line, reasoning is one line, and a pending call has no note', () => {
  const thinks = (text: string): SessionEvent => ({ kind: 'reasoning', turnId: 't', part: 'r', text })
  // A tool call with only the fields that the narrator reads.
  const call = (given: object): SessionEvent => ({
    kind: 'call',
    turnId: 't',
    call: {
      toolCallId: 'c',
      toolName: 'x',
      displayName: 'X',
      invocationMessage: 'Do\u001b it',
      ...given,
    } as ToolCallState,
  })
  expect(
    narrated(
      { kind: 'began', turn, again: false },
      thinks('let me '),
      thinks('see'),
      says('a'),
      says('b', 'q'),
      call({ status: 'pending-confirmation' }),
      call({ status: 'running', ...decided({ permission: { id: 'p', tool: 'x', folder: 'file:///w/a' } }) }),
      call({
        status: 'completed',
        success: false,
        pastTenseMessage: 'Not done',
        content: [{ type: 'text', text: 'why' }],
        ...decided(editor, { ...editor, approved: false }),
      }),
      call({
        status: 'cancelled',
        reason: 'denied',
        reasonMessage: 'no',
        ...decided({ ...editor, approved: false }),
      }),
      call({ status: 'cancelled', reason: 'skipped', ...decided({ principal: 1 }) }),
      { kind: 'failed', turnId: 't', part: { kind: 'error', error: { errorType: 'odd', message: '' } } },
      {
        kind: 'ended',
        turn: {
          ...turn,
          state: 'cancelled',
          usage: { inputTokens: 1, outputTokens: 2, _meta: { 'x-atrium': { context: 3, cost: 0.5 } } },
        },
      },
    ).split('\n'),
  ).toEqual([
    '[]',
    '[› hi]',
    '[  you]',
    '[· let me see]',
    'a',
    'b',
    '[· Do\ufffd it]',
    '[  allowed by a permission for /w/a]',
    '[✗ Not done]',
    '[  result denied by edi\ufffd tor (owner)]',
    '[  why]',
    '[✗ Do\ufffd it (denied: no)]',
    '[  denied by edi\ufffd tor (owner)]',
    '[✗ Do\ufffd it (skipped)]',
    '[✗ The turn failed (odd).]',
    '[· cancelled]',
    '[· 1 tokens in, 2 out, 0.50 USD]',
    '',
  ])
})
