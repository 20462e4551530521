import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { trials } from '../../../packages/protocol/test/search.ts'
import { Modules } from '../plant/modules.ts'
import type { Patch } from '../plant/patch.ts'
import { lawBugs } from './law-bugs.ts'
import type { live } from './life.ts'

/** The built file, because patches quote built code. */
const modules = new Modules(fileURLToPath(new URL('../../dist/automations/life.js', import.meta.url)))

function livesWith(patches: readonly Patch[]): typeof live {
  // The built file has this export.
  return modules.load(patches)['live'] as typeof live
}

/** What the first seed finds that finds anything. */
async function firstFound(lives: typeof live, seeds: number, fenced = true): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed++) {
    const wrong = await lives(seed, { fenced })
    if (wrong !== undefined) return `seed ${seed}: ${wrong}`
  }
  return undefined
}

test('[B74] [H42.1] [H42.2] [H42.6] over random lives each due instant is a run or is missed, once', async () => {
  expect(await firstFound(livesWith([]), trials(100, 10))).toBeUndefined()
})

test.each(lawBugs)('[B74] it finds this bug: $name', async ({ patches }) => {
  expect(await firstFound(livesWith(patches), 20)).toMatch(/ was claimed | does not come to rest/)
})

test('[B74] it finds two owners, if the store does not refuse the former one', async () => {
  expect(await firstFound(livesWith([]), 20, false)).toMatch(/ was claimed /)
})
