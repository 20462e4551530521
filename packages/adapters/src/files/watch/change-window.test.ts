import { expect, test } from 'vitest'
import { ChangeWindow } from './change-window.ts'

test.each([
  ['added', 'added', 'added'],
  ['added', 'updated', 'added'],
  ['added', 'deleted', undefined],
  ['updated', 'added', 'updated'],
  ['updated', 'updated', 'updated'],
  ['updated', 'deleted', 'deleted'],
  ['deleted', 'added', 'updated'],
  ['deleted', 'updated', 'updated'],
  ['deleted', 'deleted', 'deleted'],
] as const)('[O5] %s and then %s in one window is %s', (before, then, together) => {
  const changes = new ChangeWindow(() => true, 10)
  changes.add('path', before)
  changes.add('path', then)
  const reported: unknown[] = []
  changes.deliverTo((...what) => reported.push(what))
  expect(reported).toEqual(together ? [[[{ path: 'path', type: together }], false]] : [])
})

test('[O6] the deletion of the target is reported, even after a loss', () => {
  const changes = new ChangeWindow(() => false, 10)
  changes.add('', 'updated')
  changes.markLost()
  changes.targetDeleted()
  const reported: unknown[] = []
  changes.deliverTo((...what) => reported.push(what))
  expect(reported).toEqual([[[{ path: '', type: 'deleted' }], false]])
})
