import { fileURLToPath } from 'node:url'
import type { Patch } from '../plant/patch.ts'
import { Modules } from '../plant/modules.ts'
import { planOf } from './plan.ts'
import type { Plan } from './plan.ts'
import type { Violation } from './simulation.ts'

/** A question to this process: does one of these seeds find the bug that these patches plant? */
export interface PlantedSearch {
  readonly patches: readonly Patch[]
  readonly first: number
  readonly count: number
}

/** Its answer: the first seed with a violation. */
export interface PlantedFound {
  readonly found?: { readonly seed: number; readonly violation: Violation }
}

/** What both entries export. */
interface Entry {
  run(plan: Plan): Promise<Violation | undefined>
}

// This file is a child process, which searches one planted bug after the other: with the real client library if the argument is 1.
const entry = process.argv[2] === '1' ? '../clients/run.js' : './run.js'
const modules = new Modules(fileURLToPath(new URL(entry, import.meta.url)))

// A failed search ends this process, and the other one names the bug.
process.on('message', (question: PlantedSearch) => void answer(question))

async function answer({ patches, first, count }: PlantedSearch): Promise<void> {
  // The modules have no types any more.
  const { run } = modules.load(patches) as unknown as Entry
  let found: PlantedFound['found']
  for (let seed = first; !found && seed < first + count; seed++) {
    const violation = await run(planOf(seed))
    if (violation) found = { seed, violation }
  }
  process.send?.({ ...(found && { found }) } satisfies PlantedFound)
}
