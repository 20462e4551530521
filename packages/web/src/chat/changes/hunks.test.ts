import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import { expect, test } from 'vitest'
import { diffText } from '../../ui/diff/diff-rows.ts'
import { hunksOf, withHunks } from './hunks.ts'
import type { Hunk } from './hunks.ts'

const hunk = (before: readonly [number, number], after: readonly [number, number]): Hunk => ({
  hash: 'h',
  reviewed: false,
  before: { from: before[0], count: before[1] },
  after: { from: after[0], count: after[1] },
})
const text = diffText('a\nb\nc\nd\n', 'A\nb\nc\nd\ne\n')

test('[U30] the hunks of the host are shown if they fit the text', () => {
  const hunks = [hunk([0, 1], [0, 1]), hunk([4, 0], [4, 1])]
  expect(withHunks(text, hunks).changes).toBe(hunks)
  expect(withHunks(text, []).changes).toBe(text.changes)
})

test.each([
  ['of another text', [hunk([0, 1], [0, 1])]],
  ['that hide a change', [hunk([1, 1], [1, 1]), hunk([4, 0], [4, 1])]],
  ['in the wrong order', [hunk([4, 0], [4, 1]), hunk([0, 1], [0, 1])]],
])('[U30] hunks %s are not shown', (_, hunks) => {
  expect(withHunks(text, hunks).changes).toBe(text.changes)
})

test('[U30] metadata without a list of hunks has none', () => {
  const file = (own: unknown): ChangesetFile => ({ id: 'f', edit: {}, _meta: { 'x-atrium': own } })
  for (const own of [undefined, 3, {}, { hunks: 'x' }, { hunks: [null, 4] }])
    expect(hunksOf(file(own))).toEqual([])
  expect(hunksOf(file({ hunks: [hunk([0, 1], [0, 1])] }))).toHaveLength(1)
})
