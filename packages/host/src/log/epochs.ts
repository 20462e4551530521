import { limits } from '@atrium/protocol/limits'
import type { Records } from '../ports/records.ts'
import { numbersAhead } from './group-commit.ts'

/**
 * The sequence numbers of one run of the host, from its first to its last durable number. Between two epochs some numbers are
 * unused.
 */
export interface Epoch {
  readonly first: number
  readonly last: number
}

/**
 * Begins an epoch. Its first sequence number is above every number that an earlier epoch can have assigned, even if the store
 * is a restored backup from before that epoch. Returns the earlier epochs.
 */
export async function beginEpoch(
  records: Records,
  upTo: number,
  now: number,
): Promise<{ first: number; earlierEpochs: readonly Epoch[] }> {
  // The cast is safe: the record is written only below.
  const stored = JSON.parse((await records.get(key)) ?? '[]') as readonly (readonly [number, number?])[]
  const earlierEpochs = stored.map(([first, last = upTo - numbersAhead]) => ({ first, last }))
  // If the disk has lost an earlier epoch, `upTo` is too low. Then the clock keeps the numbers of the two epochs apart: the clock
  // advances a thousand numbers in each millisecond, and an epoch assigns fewer.
  const first = Math.max(upTo + 1, Math.floor(now) * 1000)
  const kept = earlierEpochs.slice(-limits.lives).map((epoch) => [epoch.first, epoch.last])
  records.put(key, JSON.stringify([...kept, [first]]))
  return { first, earlierEpochs }
}

/** Whether one of these epochs assigned a sequence number and made it durable. */
export function inEpoch(epochs: readonly Epoch[], seq: number): boolean {
  return epochs.some(({ first, last }) => first - 1 <= seq && seq <= last)
}

const key = 'lives'
