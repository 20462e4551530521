import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { trials } from '../../../packages/protocol/test/search.ts'
import { patched } from '../plant/patch.ts'
import { firstOfChanges, planOf } from '../simulate/plan.ts'
import { tally } from '../simulate/tally.ts'
import { clientBugs } from './bugs.ts'
import { run } from './run.ts'

const traceOf = async (seed: number) => {
  const lines: string[] = []
  await run(planOf(seed), (line) => lines.push(line))
  return lines
}

test('[B28] with real clients, the same seed gives exactly the same trace', async () => {
  const [once, again, other] = [await traceOf(7), await traceOf(7), await traceOf(8)]
  expect(once.length).toBeGreaterThan(50)
  expect(again).toEqual(once)
  expect(other).not.toEqual(once)
})

test('[B29] [I4] [I5] [I8] and the client rules hold for the first seeds', async () => {
  for (let seed = 1; seed <= trials(20, 6); seed++)
    expect({ seed, violation: await run(planOf(seed)) }).toEqual({ seed, violation: undefined })
})

test('[B28] [B29] agents and people change files, and real clients look at changesets and undo turns', async () => {
  for (let seed = firstOfChanges; seed < firstOfChanges + 5; seed++)
    expect({ seed, violation: await run(planOf(seed)) }).toEqual({ seed, violation: undefined })
  for (const what of ['files changed by undo', 'changesets compared', 'past states compared'])
    expect({ what, times: tally()[what] ?? 0 }).not.toEqual({ what, times: 0 })
})

test('[B29] the first seeds reach every kind of client situation', async () => {
  const wanted = [
    '"type":"replay"',
    '"type":"snapshot"',
    '"missing":["',
    'already accepted as',
    '"outcome":"accepted"',
    '"outcome":"refused"',
    '"outcome":"lost"',
    'nothing was received for too long',
    'a handle on',
    'fetchTurns',
    'is closed',
  ]
  const seen = new Set<string>()
  for (let seed = 1; seed <= 60 && seen.size < wanted.length; seed++)
    await run(planOf(seed), (line) => {
      for (const text of wanted) if (!seen.has(text) && line.includes(text)) seen.add(text)
    })
  expect([...seen].toSorted()).toEqual(wanted.toSorted())
})

test.each(clientBugs.map((bug) => [bug.name, bug] as const))('[B30] %s can be planted', (_, { patches }) => {
  for (const patch of patches) {
    const file = fileURLToPath(new URL(`../../../packages/${patch.file}`, import.meta.url))
    const text = readFileSync(file, 'utf8')
    expect(patched(`file://${file}`, text, [patch])).not.toBe(text)
  }
})
