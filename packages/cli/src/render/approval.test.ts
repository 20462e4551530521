import type { ToolCallPendingConfirmation } from '@atrium/protocol/chat/tool'
import { expect, test } from 'vitest'
import type { Key } from '../terminal/keys.ts'
import { styled } from '../terminal/output.ts'
import { approvalInAdvance } from './approval-choices.ts'
import { Approval } from './approval.ts'
import type { Question } from './question.ts'

const style = styled(false)
const window = { columns: 80, height: 24 }
const own = ['once', 'session', 'folder', 'deny', 'deny-why'].map((name) => ({
  id: `atrium.${name}`,
  label: name,
  kind: name.startsWith('deny') ? ('deny' as const) : ('approve' as const),
}))
const call: ToolCallPendingConfirmation = {
  status: 'pending-confirmation',
  toolCallId: 'c',
  toolName: 'run',
  displayName: 'Run',
  invocationMessage: 'Run `ls`',
  toolInput: 'ls',
  options: own,
  editable: true,
}

const typed = (text: string): readonly Key[] => Array.from(text, (each) => ({ name: 'text', text: each }))

/** Returns the answer that these keys give, or undefined while the question is open. */
function after(question: Question, ...keys: readonly Key[]): unknown {
  let now = question
  for (const key of keys) {
    const pressed = now.press(key)
    if (!pressed.next) return 'action' in pressed.answer ? pressed.answer.action : pressed.answer
    now = pressed.next
  }
  return undefined
}

/** A question whose first page was on the screen. */
const opened = (...given: ConstructorParameters<typeof Approval>) =>
  new Approval(...given).more(style, window).next

const at = { type: 'chat/toolCallConfirmed', turnId: 't', toolCallId: 'c' }
const yes = { ...at, approved: true, confirmed: 'user-action' }
const no = { ...at, approved: false, reason: 'denied' }

test.each([
  ['y', { ...yes, selectedOptionId: 'atrium.once' }],
  ['Y', { ...yes, selectedOptionId: 'atrium.once' }],
  ['s', { ...yes, selectedOptionId: 'atrium.session' }],
  ['a', { ...yes, selectedOptionId: 'atrium.folder' }],
  ['n', { ...no, selectedOptionId: 'atrium.deny' }],
  ['x', undefined],
  ['1', undefined],
])('[Z6] the key %s', (key, answer) => {
  expect(after(opened('t', call), ...typed(key))).toEqual(answer)
})

test('[Z6] e edits the input, r gives a reason, Esc leaves both, and a paste answers nothing', () => {
  const question = opened('t', call)
  const enter: Key = { name: 'enter' }
  expect(after(question, ...typed('e -l'), enter)).toEqual({
    ...yes,
    selectedOptionId: 'atrium.once',
    editedToolInput: 'ls -l',
  })
  expect(after(question, ...typed('rno'), enter)).toEqual({
    ...no,
    selectedOptionId: 'atrium.deny-why',
    reasonMessage: 'no',
  })
  expect(after(question, ...typed('r'), { name: 'escape' }, ...typed('y'))).toMatchObject({ approved: true })
  expect(after(question, { name: 'paste', text: 'y' }, enter)).toBeUndefined()
})

const agentOption = (id: string, label: string) => ({
  id,
  label,
  kind: /once|always/.test(id) ? ('approve' as const) : ('deny' as const),
})
const { editable: _editable, ...plainCall } = call

test.each([
  ['y', { ...yes, selectedOptionId: 'agent.once' }],
  ['s', { ...yes, selectedOptionId: 'agent.always' }],
  ['a', { ...yes, selectedOptionId: 'agent.always-2' }],
  ['4', { ...yes, selectedOptionId: 'agent.always-3' }],
  ['n', { ...no, selectedOptionId: 'agent.deny' }],
  ['d', { ...no, selectedOptionId: 'agent.never' }],
  ['1', undefined],
  ['e', undefined],
])('[Z6.7] the key %s of a choice of an agent is that of its meaning', (key, answer) => {
  const options = [
    agentOption('agent.once', 'Go \u001b[31mahead'),
    agentOption('agent.always', 'For this session'),
    agentOption('agent.always-2', 'Do not ask again'),
    agentOption('agent.always-3', 'Never ask'),
    agentOption('agent.deny', 'Stop'),
    agentOption('agent.never', 'Stop for good'),
  ]
  const question = opened('t', { ...plainCall, options })
  expect(question.rows(style, 200).rows).toEqual([
    '[y] Go \ufffd[31mahead  [s] For this session  [a] Do not ask again  [4] Never ask  [n] Stop  [d] Stop for good  [r] no, because',
  ])
  expect(after(question, ...typed(key))).toEqual(answer)
})

test('[Z6.1] [Z6.7] choices of another host have y and n, then numbers; a call without choices has y and n', () => {
  const options = [
    { id: 'all', label: 'Allow', kind: 'approve' as const },
    { id: 'more', label: 'Allow more', kind: 'approve' as const },
    { id: 'none', label: 'Reject', kind: 'deny' as const },
  ]
  const question = opened('t', { ...plainCall, options })
  expect(question.rows(style, 80).rows).toEqual(['[y] Allow  [2] Allow more  [n] Reject  [r] no, because'])
  expect(after(question, ...typed('y'))).toEqual({ ...yes, selectedOptionId: 'all' })
  expect(after(question, ...typed('2'))).toEqual({ ...yes, selectedOptionId: 'more' })
  expect(after(question, ...typed('n'))).toEqual({ ...no, selectedOptionId: 'none' })
  const bare = opened('t', { ...plainCall, options: [] })
  expect([after(bare, ...typed('y')), after(bare, ...typed('n'))]).toEqual([yes, no])
})

test('[Z6.1] another key answers nothing, and the prompt names the right ones', () => {
  const question = opened('t', call)
  const wrong = question.press({ name: 'text', text: 'x' }).next
  expect(wrong?.rows(style, 200).rows.at(-1)).toBe('x is not one of the keys: press y, s, a, e, n or r.')
  expect(wrong && after(wrong, ...typed('y'))).toMatchObject({ approved: true })
  const ctrl = question.press({ name: 'up' }).next
  expect(ctrl).toBe(question)
})

test('[Z6.6] the answer to a pending result confirms the result, which the question shows', () => {
  const { options: _, editable: __, ...rest } = call
  const result = { success: true, pastTenseMessage: 'Ran', confirmed: 'user-action' as const }
  const text = { lines: ['  one', '  \ufffd[31mtwo'] }
  const question = new Approval('t', { ...rest, ...result, status: 'pending-result-confirmation' }, text)
  expect(question.more(style, window).lines).toEqual(['? Use the result: Ran', '  one', '  \ufffd[31mtwo'])
  expect(after(question.more(style, window).next, ...typed('n'))).toEqual({
    type: 'chat/toolCallResultConfirmed',
    turnId: 't',
    toolCallId: 'c',
    approved: false,
  })
})

test('[Z6] the keys fit any window, and the input is shown unless the question contains it', () => {
  const question = new Approval('t', { ...call, toolInput: 'rm -r x\n\u001b[2J' })
  expect(question.more(style, window).lines).toEqual(['? Run `ls`', '  rm -r x', '  \ufffd[2J'])
  const shown = question.more(style, window).next
  for (const columns of [20, 30, 80])
    for (const row of shown.rows(style, columns).rows)
      expect(row.length).toBeLessThanOrEqual(Math.max(columns, 25))
})

test('[Z7] an approval in advance takes the offered choice', () => {
  expect(approvalInAdvance('t', call, 'session')).toEqual({ ...yes, selectedOptionId: 'atrium.session' })
  expect(
    approvalInAdvance('t', { ...call, options: [{ id: 'all', label: '', kind: 'approve' }] }, 'session'),
  ).toEqual({
    ...yes,
    selectedOptionId: 'all',
  })
})

const many = Array.from({ length: 61 }, (_, at) => (at === 40 ? 'touch hidden' : `# ${at + 1}`)).join('\n')
const long = { ...call, invocationMessage: 'Run `# 1 # 2…`', toolInput: many }
const more = (question: Approval, size = window) => question.more(style, size)
const keys = (question: Question | undefined) => question?.rows(style, 200).rows.join('\n')

test('[Z6.8] v shows the next lines, as many as fit, until all were on the screen; only then may it be approved for good', () => {
  let page = more(new Approval('t', long))
  const seen = page.lines.slice(1, -1)
  expect(page.lines[0]).toBe('? Run `# 1 # 2…`')
  expect(page.lines.at(-1)).toBe(`  … ${61 - seen.length} more lines`)
  expect(keys(page.next)).toBe(`[v] show ${61 - seen.length} more lines  [y] once  [n] no  [r] no, because`)
  for (const key of ['s', 'a', 'e']) expect(after(page.next, ...typed(key))).toBeUndefined()
  while (keys(page.next)?.includes('[v]')) {
    const pressed = page.next.press({ name: 'text', text: 'v' })
    expect(pressed).toMatchObject({ more: true })
    page = more(page.next)
    expect(page.lines.length + 2).toBeLessThan(window.height)
    seen.push(...page.lines.filter((line) => !line.startsWith('  …')))
  }
  expect(seen.map((line) => line.trim()).join('\n')).toBe(many)
  expect(keys(page.next)).toContain('[s] this session  [a] always in this folder  [e] edit')
  expect(after(page.next, ...typed('y'))).toMatchObject({ approved: true })
})

test('[Z6.9] while lines were never on the screen, y asks again with their number, and another key takes it back', () => {
  const { next, lines } = more(new Approval('t', long))
  const rest = 61 - (lines.length - 2)
  const pressed = next.press({ name: 'text', text: 'y' })
  expect(pressed).toMatchObject({ anew: true })
  expect(keys(pressed.next)).toContain(
    `${rest} lines were never on the screen. y once more approves all of it, unseen.`,
  )
  expect(after(next, ...typed('yy'))).toEqual({ ...yes, selectedOptionId: 'atrium.once' })
  expect(after(next, ...typed('yxy'))).toBeUndefined()
  expect(after(next, ...typed('n'))).toMatchObject({ approved: false })
})

test('[Z6.9] what cannot be read counts as unseen', () => {
  const question = opened('t', call, { lines: ['  Its input cannot be read.'], incomplete: true })
  expect(keys(question)).toBe('[y] once  [n] no  [r] no, because')
  expect(keys(question.press({ name: 'text', text: 'y' }).next)).toContain('A part of it cannot be read.')
  expect(after(question, ...typed('y'))).toBeUndefined()
  expect(after(question, ...typed('yy'))).toMatchObject({ approved: true })
})

test.each([20, 49, 80])(
  '[Z6.8] a long line is wrapped at %i columns, and nothing of it is left out',
  (columns) => {
    const toolInput = `echo ${'x'.repeat(900)}; touch hidden`
    let page = more(new Approval('t', { ...call, toolInput }), { columns, height: 12 })
    let text = page.lines.slice(1).join('')
    for (let count = 0; keys(page.next)?.includes('[v]') && count < 100; count++) {
      page = more(page.next, { columns, height: 12 })
      for (const line of page.lines) expect(line.length).toBeLessThan(columns)
      text += page.lines.join('')
    }
    expect(text.replaceAll(/ {2}(… 1 more line)?/g, '')).toBe(toolInput)
  },
)

test('[Z6.8] a title that is too long for the question, or that has several lines, is shown in full below it', () => {
  const { toolInput: _toolInput, ...bare } = call
  const title = `ls\n${'word '.repeat(60)}end`
  const { lines } = more(new Approval('t', { ...bare, invocationMessage: title }))
  expect(lines[0]).toMatch(/^\? ls word .*…$/)
  expect(lines.slice(1).join('').replaceAll('  ', '')).toBe(title.replace('\n', ''))
})
