import { expect, test } from 'vitest'
import { diffRows, diffText } from './diff-rows.ts'
import type { DiffRow } from './diff-rows.ts'

const lines = (count: number, change: (line: number) => string | undefined = () => undefined) =>
  Array.from({ length: count }, (_, at) => `${change(at) ?? at}\n`).join('')

const words = (row: DiffRow) => {
  if (row.kind === 'gap') return `… ${row.from}+${row.count}`
  if (row.kind === 'head') return `# ${row.at}`
  const [old, now] = [row.before, row.after].map((cell) => cell?.text.trim() ?? '')
  return row.same ? `${old}` : `${old}>${now}`
}

test('[U23] a diff has its changes with three lines around them, and gaps for the rest', () => {
  const text = diffText(
    lines(20),
    lines(20, (at) => (at === 10 ? 'ten' : undefined)),
  )
  expect(diffRows(text, { heads: true }).map(words)).toEqual([
    '… 0+7',
    '7',
    '8',
    '9',
    '# 0',
    '10>',
    '>ten',
    '11',
    '12',
    '13',
    '… 14+6',
  ])
})

test('[U23] a split diff puts removed and added lines beside each other', () => {
  const text = diffText('a\nb\nc\n', 'a\nB\nB2\nc\n')
  expect(diffRows(text).map(words)).toEqual(['a', 'b>', '>B', '>B2', 'c'])
  expect(diffRows(text, { split: true }).map(words)).toEqual(['a', 'b>B', '>B2', 'c'])
})

test('[U30] the lines of a change stand for each other, one by one', () => {
  const text = diffText('a\nb\nc\n', 'a\nB\nB2\nc\n')
  const others = diffRows(text).map((row) => row.kind === 'line' && (row.before ?? row.after)?.other)
  expect(others).toEqual([undefined, 'B\n', 'b\n', undefined, undefined])
})

test('[U23] a line far from every change is shown if it is asked for', () => {
  const text = diffText(
    lines(30),
    lines(30, (at) => (at === 0 ? 'zero' : undefined)),
  )
  const rows = diffRows(text, { isShown: (line) => line === 20 }).map(words)
  expect(rows).toEqual(['0>', '>zero', '1', '2', '3', '… 4+16', '20', '… 21+9'])
})

test('[U23] equal texts, new files, deleted files and texts without anything in common', () => {
  expect(diffRows(diffText('a\n', 'a\n')).map(words)).toEqual(['… 0+1'])
  expect(diffRows(diffText('', 'a\nb')).map(words)).toEqual(['>a', '>b'])
  expect(diffRows(diffText('a\nb', '')).map(words)).toEqual(['a>', 'b>'])
  expect(diffText('a', 'a\n').changes).toHaveLength(1)
  const far = diffText(
    lines(5000),
    lines(5000, (at) => `x${at}`),
  )
  expect(far.changes).toEqual([{ before: { from: 0, count: 5000 }, after: { from: 0, count: 5000 } }])
})
