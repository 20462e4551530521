import { limits } from '@atrium/protocol/limits'
import type { Records } from '../ports/records.ts'
import { numbersAhead } from './group-commit.ts'

/** The sequence numbers of one run of the host: from its first to its last durable one. Between epochs are holes. */
export interface Epoch {
  readonly first: number
  readonly last: number
}

/**
 * Begins an epoch. Its first number is above every number that an earlier epoch can have assigned, even an epoch that a
 * restored backup does not contain. Returns the earlier epochs.
 */
export async function beginEpoch(
  records: Records,
  upTo: number,
  now: number,
): Promise<{ first: number; earlierEpochs: readonly Epoch[] }> {
  // The record is written below, and only there.
  const stored = JSON.parse((await records.get(key)) ?? '[]') as readonly (readonly [number, number?])[]
  const earlierEpochs = stored.map(([first, last = upTo - numbersAhead]) => ({ first, last }))
  // A thousand numbers for each millisecond keep two epochs apart even if the disk has lost the first of them.
  const first = Math.max(upTo + 1, Math.floor(now) * 1000)
  const kept = earlierEpochs.slice(-limits.lives).map((epoch) => [epoch.first, epoch.last])
  records.put(key, JSON.stringify([...kept, [first]]))
  return { first, earlierEpochs }
}

/** Whether an epoch assigned a number and made it durable. */
export function inEpoch(epochs: readonly Epoch[], seq: number): boolean {
  return epochs.some(({ first, last }) => first - 1 <= seq && seq <= last)
}

const key = 'lives'
