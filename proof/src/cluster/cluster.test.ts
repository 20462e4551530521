import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Modules } from '../plant/modules.ts'
import { clusterBugs } from './bugs.ts'
import { run } from './run.ts'

test('[B70] the same seed gives exactly the same trace', async () => {
  const traceOf = async (seed: number) => {
    const lines: string[] = []
    await run(seed, (line) => lines.push(line))
    return lines
  }
  const [once, again, other] = [await traceOf(3), await traceOf(3), await traceOf(4)]
  expect(once.length).toBeGreaterThan(20)
  expect(again).toEqual(once)
  expect(other).not.toEqual(once)
})

test('[B70] [L45] the rules of several nodes hold for the first seeds, which reach every kind of fault', async () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 12; seed++) {
    const { violation, counts } = await run(seed)
    expect({ seed, violation }).toEqual({ seed, violation: undefined })
    for (const what of Object.keys(counts)) seen.add(what)
  }
  const all = ['cut off', 'epochs', 'goes on', 'killed', 'loses an answer', 'paused', 'reaches the database']
  expect([...seen].toSorted()).toEqual(all)
})

const modules = new Modules(fileURLToPath(new URL('../../dist/cluster/run.js', import.meta.url)))

test.each(clusterBugs.map((bug) => [bug.name, bug] as const))(
  '[B71] the simulation finds a planted bug: %s',
  async (_, { patches }) => {
    // The modules have no types any more.
    const planted = modules.load(patches) as { run: typeof run }
    let found: Awaited<ReturnType<typeof run>>['violation']
    for (let seed = 1; seed <= 60 && !found; seed++) found = (await planted.run(seed)).violation
    expect(found).toMatchObject({ invariant: expect.any(String) })
  },
)
