import type { ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { transcriptOf } from './transcript.ts'

const markdown = (content: string): ResponsePart => ({ kind: 'markdown', id: 'p', content })
const turn = (text: string, parts: readonly ResponsePart[], more: Partial<Turn> = {}): Turn => ({
  id: text,
  message: { text, origin: { kind: 'user' } },
  responseParts: parts,
  state: 'complete',
  ...more,
})
const most = limits.transcriptLength
const of = (...turns: readonly Turn[]) => transcriptOf(turns, false, most)

test('[J6.3] [J6.4] [J6] messages and answers in order; no turns give an empty text', () => {
  expect(of()).toBe('')
  expect(of(turn('Hi', [markdown('Hello.')]), turn('Bye', [markdown('See '), markdown('you.')]))).toBe(
    '# User\n\nHi\n\n# Agent\n\nHello.\n\n# User\n\nBye\n\n# Agent\n\nSee \n\nyou.',
  )
})

test('[J6] each kind of part is a line; reasoning and unknown kinds are left out', () => {
  const call = { toolCallId: 'c', toolName: 'x', displayName: 'Run', confirmed: 'not-needed' } as const
  const parts = [
    { kind: 'reasoning', id: 'r', content: 'secret thought' },
    {
      kind: 'toolCall',
      toolCall: {
        ...call,
        status: 'completed',
        invocationMessage: 'i',
        pastTenseMessage: { markdown: 'Ran `ls`' },
        success: true,
      },
    },
    {
      kind: 'toolCall',
      toolCall: {
        ...call,
        status: 'completed',
        invocationMessage: 'i',
        pastTenseMessage: 'Ran',
        success: false,
      },
    },
    {
      kind: 'toolCall',
      toolCall: { ...call, status: 'cancelled', reason: 'denied', invocationMessage: 'Running' },
    },
    { kind: 'toolCall', toolCall: { ...call, status: 'streaming' } },
    { kind: 'inputRequest', request: { id: 'q', message: 'Sure?' }, response: 'accept' },
    { kind: 'inputRequest', request: { id: 'q' } },
    { kind: 'systemNotification', content: { markdown: 'Note' } },
    { kind: 'x-later', content: 'later' },
    { kind: 'error', error: { errorType: 'e', message: 'Broke' } },
  ] as unknown as readonly ResponsePart[]
  expect(
    of(turn('go', parts, { state: 'cancelled' }))
      .split('\n\n')
      .slice(3),
  ).toEqual([
    '[Run: Ran `ls` (done)]',
    '[Run: Ran (failed)]',
    '[Run: Running (cancelled)]',
    '[Run:  (streaming)]',
    '[Asked: Sure? (accept)]',
    '[Asked:  (open)]',
    '[Note]',
    '[Error: Broke]',
    '[This turn was cancelled.]',
  ])
})

test('[J6.4] [J6] attachments are listed and not read', () => {
  const attachments = [
    { type: 'chat', resource: 'ahp-chat:/x', label: 'Other chat' },
    { type: 'simple', label: 'Note', modelRepresentation: 'hidden' },
  ] as const
  const message = { text: '', origin: { kind: 'agent' }, attachments }
  expect(of(turn('x', [], { message }))).toBe('# Agent that asked\n\n[Attached: Other chat, Note]\n\n# Agent')
})

test('[S-57 transcriptLength] at 262,144: the whole text', () => {
  const text = of(turn('a', [markdown('x'.repeat(most - '# User\n\na\n\n# Agent\n\n'.length))]))
  expect(text).toHaveLength(262_144)
  expect(text.startsWith('# User')).toBe(true)
})

test('[J6.3] [S-57 transcriptLength] past 262,144: the newest whole turns, and a note that others were left out', () => {
  const long = (text: string) => turn(text, [markdown(`${text}${'x'.repeat(100_000)}`)])
  const text = of(long('one'), long('two'), long('three'))
  expect(text.startsWith('[Earlier turns are left out.]\n\n# User\n\ntwo')).toBe(true)
  expect(text.length).toBeLessThan(262_144)
  expect(transcriptOf([turn('a', [])], true, most)).toBe(
    '[Earlier turns are left out.]\n\n# User\n\na\n\n# Agent',
  )
  // A single turn that is too long: its end, without half of a surrogate pair.
  const huge = of(turn('a', [markdown(`${'😀'.repeat(200_000)}x`)]))
  expect(huge.length).toBeLessThan(262_144 + 50)
  expect(huge).not.toMatch(/\p{Surrogate}/u)
})
