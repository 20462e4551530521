import { compact } from '@atrium/protocol/update'
import { limits } from '@atrium/protocol/limits'
import type { LogStore } from '../../ports/log.ts'
import type { Records } from '../../ports/records.ts'
import { readRecord } from '../records/checked-records.ts'
import { numbersAhead } from './group-commit.ts'

/**
 * The sequence numbers of one run of the host, from its first to its last durable number. Between two epochs some numbers are
 * unused.
 */
export interface Epoch {
  readonly first: number
  readonly last: number
  /**
   * Set if the disk has lost the newest actions of the epoch. The numbers above `last` and up to this one may belong
   * to lost actions.
   */
  readonly lost?: number
}

/**
 * Begins an epoch. Its first sequence number is above every number that an earlier epoch can have assigned, even if the store
 * is a restored backup from before that epoch. Returns the earlier epochs.
 */
export async function beginEpoch(
  records: Records,
  { upTo, lost }: Pick<LogStore, 'upTo' | 'lost'>,
  now: number,
): Promise<{ first: number; earlierEpochs: readonly Epoch[] }> {
  const read = (text: string) => {
    // The shape is trusted: the record is written only below.
    const stored: readonly StoredEpoch[] = JSON.parse(text)
    return stored.map(([first, last = upTo - numbersAhead, gone]): Epoch =>
      compact<Epoch>({ first, last, lost: gone }),
    )
  }
  // Without the record, no number is known to be of an earlier epoch. So clients that come back get snapshots.
  const kept = (await readRecord(records, key, read)) ?? []
  const earlierEpochs = lost === undefined ? kept : withLoss(kept, lost)
  // Usually `upTo` is above all numbers of earlier epochs. It is not if the disk has lost an epoch and the store does
  // not know of the loss. The clock still keeps the numbers of the two epochs apart: it adds a thousand numbers in
  // each millisecond, and an epoch assigns fewer.
  const first = Math.max(upTo + 1, aboveLost(lost), Math.floor(now) * 1000)
  const written = earlierEpochs.slice(-limits.lives).map(asStored)
  records.put(key, JSON.stringify([...written, [first]]))
  return { first, earlierEpochs }
}

/**
 * Whether a client that has seen the actions up to `seq` has seen only durable actions: `seq` is a durable number of
 * one of these epochs, or the number before its first one.
 */
export function inEpoch(epochs: readonly Epoch[], seq: number): boolean {
  return epochs.some(({ first, last }) => first - 1 <= seq && seq <= last)
}

/** Whether one of these epochs may have assigned a sequence number to an action that the disk has lost. */
export function wasLost(epochs: readonly Epoch[], seq: number): boolean {
  return epochs.some(({ last, lost = 0 }) => last < seq && seq <= lost)
}

/**
 * An epoch as it is stored: `first`, `last` and, after a loss, `lost`. The running epoch is stored with `first` only.
 */
type StoredEpoch = readonly [first: number, last?: number, lost?: number]

const key = 'lives'

/** What clients are told about a loss. It has no path and no number, because it is for users. */
export const lostHistory =
  'This host has lost its newest changes, although it had confirmed them: its store was damaged, or was replaced by an older copy.'

function asStored({ first, last, lost }: Epoch): StoredEpoch {
  return lost === undefined ? [first, last] : [first, last, lost]
}

/**
 * The lowest first sequence number that the epoch after a loss may have. `lost + 1` would be too low: a client that
 * has seen `first - 1` counts as up to date, and `first - 1` must not be a lost number.
 */
function aboveLost(lost = 0): number {
  return lost + 2
}

/**
 * Adds a loss to the last epoch that the disk still has. If the disk has no epoch, adds an epoch without durable
 * numbers, so that every number up to `lost` counts as lost.
 */
function withLoss(epochs: readonly Epoch[], lost: number): readonly Epoch[] {
  const { first, last } = epochs.at(-1) ?? { first: 2, last: 0 }
  return [...epochs.slice(0, -1), { first, last, lost }]
}
