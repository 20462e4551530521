import { without } from '@atrium/protocol/update'
import { expect, test } from 'vitest'
import { trials } from '../../../../../protocol/test/search.ts'
import { seeded } from '../../../../../protocol/test/seeded.ts'
import { searchEdits } from '../../../../test/captures/random-edits.ts'
import type { TurnRecord } from '../turn-record.ts'

/** Whole numbers below a bound. */
const choices = (seed: number) => {
  const random = seeded(seed)
  return (below: number) => Math.floor(random() * below)
}

const stepsEach = 500
const seeds = Array.from({ length: Math.ceil(trials(20_000, 2000) / stepsEach) }, (_, seed) => seed)

test('[O37] no undo and no redo removes what others wrote: random edits by calls, shells and people, and crashes', async () => {
  const total = { undone: 0, redone: 0, conflicts: 0, crashes: 0 }
  for (const seed of seeds) {
    const { lost, ...counts } = await searchEdits(stepsEach, choices(seed))
    expect(lost, `seed ${seed}`).toBeUndefined()
    total.undone += counts.undone
    total.redone += counts.redone
    total.conflicts += counts.conflicts
    total.crashes += counts.crashes
  }
  // The search is of no use if everything is a conflict.
  expect(total.undone).toBeGreaterThan(seeds.length)
  expect(total.redone).toBeGreaterThan(0)
  expect(total.conflicts).toBeGreaterThan(seeds.length)
  expect(total.crashes).toBeGreaterThan(seeds.length)
}, 300_000)

test.each([
  ['undoes shared files', 'shared'],
  ['undoes files that were changed after the turn', 'changed'],
] as const)(
  '[O37] the same search finds an undo that %s',
  async (_, verdict) => {
    const found: (string | undefined)[] = []
    for (const seed of seeds.slice(0, 4))
      found.push(
        (await searchEdits(stepsEach, choices(seed), (file) => ['apply', verdict].includes(file.verdict)))
          .lost,
      )
    expect(found.join()).toContain('from the disk')
  },
  300_000,
)

test('[O32] [O37] the same search finds a host that forgets after a crash what its last capture was', async () => {
  const withoutLast = ({ folders, ...record }: TurnRecord): TurnRecord => ({
    ...record,
    folders: folders.map((folder) => without(folder, 'last')),
  })
  const found: (string | undefined)[] = []
  for (const seed of seeds.slice(0, 4))
    found.push((await searchEdits(stepsEach, choices(seed), undefined, withoutLast)).lost)
  expect(found.join()).toContain('from the disk')
}, 300_000)
