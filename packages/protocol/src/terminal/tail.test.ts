import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limits } from '../limits.ts'
import { reduceTerminal } from './reducer.ts'
import type { TerminalState } from './state.ts'
import { tailOf } from './tail.ts'

const empty: TerminalState = {
  title: 't',
  content: [],
  lifecycle: { status: 'running' },
  claim: { kind: 'client', clientId: 'a' },
}
const text = (value: string): TerminalState => ({ ...empty, content: [{ type: 'unclassified', value }] })

test('[S-57 terminalLength] at 1,048,576 characters the whole content is kept', () => {
  const full = text('x'.repeat(limits.terminalLength - 64))
  expect(tailOf(full)).toBe(full)
})

test('[S-57 terminalLength] past 1,048,576 the older half is dropped', () => {
  const { content } = tailOf(text('x'.repeat(limits.terminalLength - 63)))
  expect(content[0]).toEqual({ type: 'unclassified', value: 'x'.repeat(limits.terminalLength / 2) })
})

test('[Y3] the rest begins with a line if one starts near, and never with half a character', () => {
  const lines = tailOf(text('0123456789\n'.repeat(100)), 200)
  expect(lines.content[0]).toMatchObject({ value: '0123456789\n'.repeat(9) })
  const smile = tailOf(text('😀'.repeat(100)), 130)
  expect(smile.content[0]).toMatchObject({ value: '😀'.repeat(32) })
  const odd = tailOf(text(`${'😀'.repeat(100)}x`), 130)
  expect(odd.content[0]).toMatchObject({ value: `${'😀'.repeat(32)}x` })
})

test('[Y3] the rest is the end of the whole content and stays within the limit', () => {
  const data = fc.record({ type: fc.constant('terminal/data' as const), data: fc.string({ maxLength: 300 }) })
  const begin = fc.record({
    type: fc.constant('terminal/commandExecuted' as const),
    commandId: fc.string(),
    commandLine: fc.string({ maxLength: 50 }),
    timestamp: fc.constant(1),
  })
  const shown = ({ content }: TerminalState) =>
    content.map((part) => (part.type === 'unclassified' ? part.value : part.output)).join('')
  fc.assert(
    fc.property(fc.array(fc.oneof(data, data, begin), { size: 'max', maxLength: 60 }), (actions) => {
      let whole = empty
      let kept = empty
      for (const action of actions) {
        whole = reduceTerminal(whole, action)
        kept = tailOf(reduceTerminal(kept, action), 1000)
        expect(shown(whole).endsWith(shown(kept))).toBe(true)
        const weight = kept.content.reduce(
          (sum, part) => sum + 64 + (part.type === 'command' ? part.commandLine.length : 0),
          shown(kept).length,
        )
        expect(weight).toBeLessThanOrEqual(1000)
      }
    }),
  )
})
