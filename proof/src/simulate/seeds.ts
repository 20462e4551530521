import { run as runClients } from '../clients/run.ts'
import { readTrace } from '../linear/trace.ts'
import { planOf } from './plan.ts'
import type { Op, Plan } from './plan.ts'
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
const [first = 1, every = 1, count = 1, explain = 0, clients = 0, twice = 0] = process.argv
  .slice(2)
  .map(Number)
const runOnce = clients === 1 ? runClients : runCore
const run = twice === 1 ? runTwice : runOnce

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

/** Runs a plan twice, which must give the same messages, and reads what the clients were told without the checks of the simulation. */
async function runTwice(plan: Plan, trace?: (line: string) => void): Promise<Violation | undefined> {
  const [one, two]: [string[], string[]] = [[], []]
  const violation =
    (await runOnce(plan, (line) => (one.push(line), trace?.(line)))) ??
    (await runOnce(plan, (line) => two.push(line)))
  if (violation) return violation
  const differs = one.findIndex((line, at) => line !== two[at])
  if (differs >= 0 || one.length !== two.length)
    return { invariant: 'B2', problem: `the second run differs from line ${differs}: ${two[differs]}` }
  const problem = readTrace(one)
  return problem === undefined ? undefined : { invariant: 'I2', problem }
}

/** Returns the trace of the shortest plan that still has the same violation. */
async function traceOf(seed: number, { invariant }: Violation): Promise<readonly string[]> {
  const plan = planOf(seed)
  const fails = async (ops: readonly Op[]) => (await run({ ...plan, ops }))?.invariant === invariant
  const ops = await shrink(plan.ops, fails)
  const lines: string[] = []
  await run({ ...plan, ops }, (line) => lines.push(line.length > 400 ? `${line.slice(0, 400)}…` : line))
  return lines
}
