import { limits } from '@atrium/protocol/limits'
import type { Records } from '../ports/records.ts'
import { numbersAhead } from './group-commit.ts'

/** The numbers of one run of the host: from its first to the last that became durable. Between lives are holes. */
export interface Epoch {
  readonly first: number
  readonly last: number
}

/**
 * Begins a life: its first number lies above every number that any life before it may have handed out, also one that a
 * restored backup knows nothing of. Gives the lives before it.
 */
export async function beginEpoch(
  records: Records,
  upTo: number,
  now: number,
): Promise<{ first: number; earlierEpochs: readonly Epoch[] }> {
  const stored = JSON.parse((await records.get(key)) ?? '[]') as readonly (readonly [number, number?])[]
  const earlierEpochs = stored.map(([first, last = upTo - numbersAhead]) => ({ first, last }))
  // A thousand for each millisecond: two lives of one second must not meet, even if the disk has forgotten the first.
  const first = Math.max(upTo + 1, Math.floor(now) * 1000)
  const kept = earlierEpochs.slice(-limits.lives).map((epoch) => [epoch.first, epoch.last])
  records.put(key, JSON.stringify([...kept, [first]]))
  return { first, earlierEpochs }
}

/** Whether a number was handed out by a life before, and not lost with it. */
export function inEpoch(lives: readonly Epoch[], seq: number): boolean {
  return lives.some(({ first, last }) => first - 1 <= seq && seq <= last)
}

const key = 'lives'
