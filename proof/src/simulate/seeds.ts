import { run as runClients } from '../clients/run.ts'
import { planOf } from './plan.ts'
import type { Op } from './plan.ts'
import { run as runCore } from './run.ts'
import { shrink } from './shrink.ts'
import type { Violation } from './simulation.ts'
import { tally } from './tally.ts'
import type { Tally } from './tally.ts'

/** What one process reports: how far it is, or the first thing that was wrong. */
export type Report =
  | { readonly done: number; readonly met: Tally }
  | { readonly seed: number; readonly violation: Violation; readonly trace?: readonly string[] }

// Every so many-th seed from the first, as many as asked for; in a process of its own, so that it can have planted bugs.
const [first = 1, every = 1, count = 1, explain = 0, clients = 0] = process.argv.slice(2).map(Number)
const run = clients === 1 ? runClients : runCore

// A channel that is closed before a long report has gone through it swallows the report.
const tell = (report: Report) => new Promise((resolve) => process.send?.(report, resolve))
for (let done = 0; done < count; done++) {
  const seed = first + done * every
  const plan = planOf(seed)
  const violation = await run(plan)
  if (violation) {
    await tell({ seed, violation, ...(explain === 1 && { trace: await traced(seed, violation) }) })
    break
  }
  if (done % 50 === 49 || done === count - 1) await tell({ done: done + 1, met: tally() })
}
process.disconnect()

/** The shortest plan with the same violation, op by op, and what was said in it. */
async function traced(seed: number, { invariant }: Violation): Promise<readonly string[]> {
  const plan = planOf(seed)
  const fails = async (ops: readonly Op[]) => (await run({ ...plan, ops }))?.invariant === invariant
  const ops = await shrink(plan.ops, fails)
  const lines: string[] = []
  await run({ ...plan, ops }, (line) => lines.push(line.length > 400 ? `${line.slice(0, 400)}…` : line))
  return lines
}
