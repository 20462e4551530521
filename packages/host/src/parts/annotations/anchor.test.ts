import type { TextRange } from '@atrium/protocol/common/text'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anchorAt, coveredLines, fileLines, locate } from './anchor.ts'

const resource = 'file:///w/a.ts'
const linesRange = (first: number, last: number): TextRange => ({
  start: { line: first, character: 0 },
  end: { line: last, character: 3 },
})

/** Makes an anchor in a text and looks for it in another. */
function moved(before: readonly string[], range: TextRange, after: readonly string[]): TextRange | undefined {
  const anchor = anchorAt(fileLines(before.join('\n')), resource, range)
  if (!anchor) throw new Error('the text has no such lines')
  return locate(anchor, fileLines(after.join('\n')))
}

/** A text whose lines all differ, a range of it, and a list of edits. */
const unique = fc
  .record({
    count: fc.integer({ min: 1, max: 60 }),
    from: fc.nat(59),
    size: fc.integer({ min: 1, max: 16 }),
    edits: fc.array(fc.tuple(fc.boolean(), fc.nat(10_000), fc.integer({ min: 1, max: 12 })), {
      maxLength: 12,
    }),
  })
  .map(({ count, from, size, edits }) => {
    const lines = Array.from({ length: count }, (_, n) => `line ${n}`)
    const first = from % count
    const last = Math.min(count - 1, first + size - 1)
    let fresh = 0
    let after = lines
    for (const [isInsertion, place, length] of edits) {
      const at = place % (after.length + 1)
      const added = isInsertion ? Array.from({ length }, () => `new ${fresh++}`) : []
      after = after.toSpliced(at, isInsertion ? 0 : length, ...added)
    }
    return { lines, first, last, after }
  })

test('[H31.1] [H31] a range has all of its lines that are left, and no other line that was there before', () => {
  fc.assert(
    fc.property(unique, ({ lines, first, last, after }) => {
      const own = new Set(lines.slice(first, last + 1))
      const others = new Set([...lines.slice(0, first), ...lines.slice(last + 1)])
      const left = after.flatMap((line, at) => (own.has(line) ? [at] : []))
      const range = moved(lines, linesRange(first, last), after)
      expect(range === undefined).toBe(left.length === 0)
      if (!range) return
      const [from, to] = coveredLines(range)
      expect(from).toBeLessThanOrEqual(left[0] ?? 0)
      expect(to).toBeGreaterThanOrEqual(left.at(-1) ?? 0)
      expect(after.slice(from, to + 1).filter((line) => others.has(line))).toEqual([])
      if (after[left[0] ?? 0] === lines[first]) expect(from).toBe(left[0])
      if (after[left.at(-1) ?? 0] === lines[last]) expect(to).toBe(left.at(-1))
    }),
    { numRuns: 3000 },
  )
})

/** Texts with many equal lines. */
const repetitive = fc.array(fc.constantFrom<string[]>('', '}', 'return', 'if (x) {', 'a()', 'b()'), {
  minLength: 1,
  maxLength: 80,
})

test('[H31] a range stays where it is while its file stays the same, whatever lines the file has', () => {
  fc.assert(
    fc.property(repetitive, fc.nat(79), fc.nat(40), (lines, from, size) => {
      const first = from % lines.length
      const range = linesRange(first, Math.min(lines.length - 1, first + size))
      expect(moved(lines, range, lines)).toEqual(range)
    }),
    { numRuns: 2000 },
  )
})

test('[H31] a range whose text is still whole moves to that text, also among equal lines', () => {
  fc.assert(
    fc.property(
      repetitive,
      fc.nat(79),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(80),
      fc.array(fc.constantFrom('y()', 'z()'), { maxLength: 5 }),
      (lines, from, size, at, added) => {
        const first = from % lines.length
        const last = Math.min(lines.length - 1, first + size - 1)
        const text = lines.slice(first, last + 1)
        // The insertion is before or after the text, never inside.
        const place = at % (lines.length + 1)
        if (place > first && place <= last) return
        const after = lines.toSpliced(place, 0, ...added)
        const range = moved(lines, linesRange(first, last), after)
        if (!text.some((line) => /\w/.test(line))) return
        expect(range && after.slice(coveredLines(range)[0], coveredLines(range)[1] + 1)).toEqual(text)
      },
    ),
    { numRuns: 2000 },
  )
})

const code = ['function one() {', '  return 1', '}', '', 'function two() {', '  return 2', '}', '']

test.each<[string, readonly string[], TextRange | undefined]>([
  ['an insertion before', ['// head', ...code], linesRange(6, 6)],
  ['a deletion before', code.slice(4), linesRange(1, 1)],
  ['an insertion after', [...code, 'more()'], linesRange(5, 5)],
  ['a deletion after', code.slice(0, 6), linesRange(5, 5)],
  ['a deletion of the text', code.toSpliced(5, 1), undefined],
  ['a deletion of everything', [], undefined],
  [
    'a move to another place',
    ['function two() {', '  return 2', '}', '', 'function one() {', '  return 1', '}'],
    linesRange(1, 1),
  ],
])('[H31] a comment on a line, after %s', (_, after, expected) => {
  expect(moved(code, linesRange(5, 5), after)).toEqual(expected)
})

test('[H31] a text whose ends were changed keeps them, and its whole lines', () => {
  const lines = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const after = ['a', 'b', 'C!', 'd', 'E!', 'f', 'g']
  expect(moved(lines, linesRange(2, 4), after)).toEqual({
    start: { line: 2, character: 0 },
    end: { line: 4, character: 2 },
  })
})

test('[H31] a range that ends at the beginning of a line covers the lines before it', () => {
  const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } }
  expect(moved(['a', 'b', 'c'], range, ['x', 'a', 'b', 'c'])).toEqual({
    start: { line: 2, character: 0 },
    end: { line: 3, character: 0 },
  })
})

test('[H31] a long text is found by its ends, far from where it was', () => {
  const lines = Array.from({ length: 9000 }, (_, n) => `line ${n}`)
  const after = [...lines.slice(4000, 5100), 'new', ...lines.slice(5100)]
  expect(moved(lines, linesRange(5000, 5400), after)).toEqual(linesRange(1000, 1401))
  expect(anchorAt(fileLines('a'), resource, linesRange(1, 1))).toBeUndefined()
})
