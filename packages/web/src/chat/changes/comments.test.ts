import type { Annotation } from '@atrium/protocol/annotations/state'
import { expect, test } from 'vitest'
import { lineOf, placeComments } from './comments.ts'

const resource = 'file:///a/notes.txt'
const lines = ['one\n', 'two\r\n', 'three']

const comment = (id: string, line?: number, own: object = {}): Annotation => ({
  id,
  origin: { session: 'ahp-session:/s' },
  resource,
  resolved: false,
  entries: [{ id: `${id} entry`, text: 'words' }],
  _meta: { 'x-atrium': own },
  ...(line !== undefined && { range: { start: { line, character: 0 }, end: { line, character: 3 } } }),
})

test('[U31] a comment stands at its line if the line has its text, and above the text if not', () => {
  const all = [
    comment('fits', 1, { anchor: { lines: ['two'] } }),
    comment('cut', 2, { anchor: { lines: ['thr'] } }),
    comment('without an anchor', 0),
    comment('other text', 1, { anchor: { lines: ['zwei'] } }),
    comment('outdated', 0, { outdated: true }),
    comment('beyond the end', 9),
    comment('whole file'),
    { ...comment('another file', 0), resource: 'file:///a/other.txt' },
  ]
  const { atLine, others } = placeComments(all, resource, lines)
  expect([...atLine].map(([line, each]) => [line, each.map(({ id }) => id)])).toEqual([
    [1, ['fits']],
    [2, ['cut']],
    [0, ['without an anchor']],
  ])
  expect(others.map(({ id }) => id)).toEqual(['other text', 'outdated', 'beyond the end', 'whole file'])
})

test('[U31] a range that ends at the beginning of a line is not about that line', () => {
  const range = { start: { line: 1, character: 0 }, end: { line: 3, character: 0 } }
  expect(lineOf({ ...comment('lines'), range })).toBe(2)
  expect(lineOf({ ...comment('none'), range: { start: range.start, end: range.start } })).toBe(1)
  expect(lineOf(comment('file'))).toBeUndefined()
})
