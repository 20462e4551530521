import type { Entry } from '@atrium/host/log/entry'
import type { Log } from '@atrium/host/log'
import type { Transaction } from './disk.ts'

/** Sequence numbers that were appended in one synchronous step. A crash keeps all of a step or none. */
export type StepNumbers = readonly number[]

/**
 * Records which entries belong to one step: the entry that a call of `append` or `accept` returns, and all entries
 * that were appended during this call.
 */
export function watchSteps(log: Log, steps: StepNumbers[]): void {
  let open: number[] | undefined
  const watch = <A extends readonly unknown[]>(say: (...args: A) => Entry) =>
    function watched(...args: A): Entry {
      const outer = open
      const step = (open ??= [])
      const entry = say(...args)
      step.push(entry.seq)
      open = outer
      if (!outer && step.length > 1) steps.push(step)
      return entry
    }
  log.append = watch(log.append.bind(log))
  log.accept = watch(log.accept.bind(log))
}

/**
 * Returns the first step of which only a part was kept, with the sequence numbers that were kept; undefined if each
 * step was kept as a whole or not at all (L1).
 */
export function partialStep(
  steps: readonly StepNumbers[],
  transactions: readonly Transaction[],
): { readonly step: StepNumbers; readonly kept: StepNumbers } | undefined {
  const stored = new Set(transactions.flatMap(({ step }) => step?.envelopes.map(({ seq }) => seq) ?? []))
  for (const step of steps) {
    const kept = step.filter((seq) => stored.has(seq))
    if (kept.length > 0 && kept.length < step.length) return { step, kept }
  }
  return undefined
}
