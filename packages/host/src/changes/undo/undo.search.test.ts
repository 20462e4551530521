import { expect, test } from 'vitest'
import { trials } from '../../../../protocol/test/search.ts'
import { searchEdits } from '../../../test/captures/random-edits.ts'

/** Numbers below a bound from a seed: the same in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const stepsEach = 500
const seeds = Array.from({ length: Math.ceil(trials(20_000, 2000) / stepsEach) }, (_, seed) => seed)

test('[O37] no undo and no redo removes what others wrote: random edits by calls, shells and people', async () => {
  const total = { undone: 0, redone: 0, conflicts: 0 }
  for (const seed of seeds) {
    const { lost, ...counts } = await searchEdits(stepsEach, seeded(seed))
    expect(lost, `seed ${seed}`).toBeUndefined()
    total.undone += counts.undone
    total.redone += counts.redone
    total.conflicts += counts.conflicts
  }
  // The search is of no use if everything is a conflict.
  expect(total.undone).toBeGreaterThan(seeds.length)
  expect(total.redone).toBeGreaterThan(0)
  expect(total.conflicts).toBeGreaterThan(seeds.length)
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
        (await searchEdits(stepsEach, seeded(seed), (file) => ['apply', verdict].includes(file.verdict)))
          .lost,
      )
    expect(found.join()).toContain('from the disk')
  },
  300_000,
)
