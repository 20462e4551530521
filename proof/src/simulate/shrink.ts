import type { Op, Plan } from './plan.ts'
import { run } from './run.ts'

/** The same violation with as few ops as can be found: halves are left out, then smaller parts, down to single ops. */
export async function shrink(plan: Plan, invariant: string, attempts = 600): Promise<Plan> {
  let ops = plan.ops
  let left = attempts
  const fails = async (fewer: readonly Op[]) => {
    left--
    return (await run({ ...plan, ops: fewer }))?.invariant === invariant
  }
  for (let size = Math.ceil(ops.length / 2); size >= 1 && left > 0;) {
    let smaller = false
    for (let at = 0; at < ops.length && left > 0;) {
      const fewer = [...ops.slice(0, at), ...ops.slice(at + size)]
      if (await fails(fewer)) {
        ops = fewer
        smaller = true
      } else at += size
    }
    if (size === 1 && !smaller) break
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
  return { ...plan, ops }
}
