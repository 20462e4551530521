import { expect, test } from 'vitest'
import { Changes } from './change-window.ts'

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
  const changes = new Changes(() => true, 10)
  changes.add('path', before)
  changes.add('path', then)
  const told: unknown[] = []
  changes.tell((...what) => told.push(what))
  expect(told).toEqual(together ? [[[{ path: 'path', type: together }], false]] : [])
})

test('[O6] that all is gone is told, whatever was lost before', () => {
  const changes = new Changes(() => false, 10)
  changes.add('', 'updated')
  changes.lose()
  changes.goneAltogether()
  const told: unknown[] = []
  changes.tell((...what) => told.push(what))
  expect(told).toEqual([[[{ path: '', type: 'deleted' }], false]])
})
