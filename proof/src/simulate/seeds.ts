import { run as runClients } from '../clients/run.ts'
import { planOf } from './plan.ts'
import type { Op } from './plan.ts'
import { run as runCore } from './run.ts'
import { shrink } from './ops/shrink.ts'
import type { Violation } from './simulation.ts'
import { tally } from './tally.ts'
import type { Tally } from './tally.ts'

/** A report of one process: its progress, or the first violation. */
export type Report =
  | { readonly done: number; readonly counts: Tally }
  | { readonly seed: number; readonly violation: Violation; readonly trace?: readonly string[] }

// This file is a child process, so that bugs can be planted in it. It runs `count` seeds: `first`, and from there every
// `every`-th seed.
const [first = 1, every = 1, count = 1, explain = 0, clients = 0] = process.argv.slice(2).map(Number)
const run = clients === 1 ? runClients : runCore

// Waits for the callback, because a channel that is closed too early loses a long report.
const send = (report: Report) => new Promise((resolve) => process.send?.(report, resolve))
for (let done = 0; done < count; done++) {
  const seed = first + done * every
  const plan = planOf(seed)
  const violation = await run(plan)
  if (violation) {
    await send({ seed, violation, ...(explain === 1 && { trace: await traceOf(seed, violation) }) })
    break
  }
  if (done % 50 === 49 || done === count - 1) await send({ done: done + 1, counts: tally() })
}
process.disconnect()

/** Returns the trace of the shortest plan that still has the same violation. */
async function traceOf(seed: number, { invariant }: Violation): Promise<readonly string[]> {
  const plan = planOf(seed)
  const fails = async (ops: readonly Op[]) => (await run({ ...plan, ops }))?.invariant === invariant
  const ops = await shrink(plan.ops, fails)
  const lines: string[] = []
  await run({ ...plan, ops }, (line) => lines.push(line.length > 400 ? `${line.slice(0, 400)}…` : line))
  return lines
}
