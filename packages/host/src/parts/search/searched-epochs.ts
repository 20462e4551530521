import type { Epoch } from '../../kernel/log/epochs.ts'
import type { Records } from '../../ports/records.ts'

/**
 * Returns the earlier epochs (runs of the host) whose index is trusted, if the index was last fed in one of them.
 * These epochs form a chain: every run since the first of them has fed an index, and has recorded its truncations,
 * which the session list does not show. A run of an older build, or without an index, breaks the chain: then the
 * result is empty. After the restore of a backup, the result lacks the epoch of a newer index, so that index is not
 * trusted. Also records that the present epoch continues the chain, or begins a new one.
 */
export async function searchedEpochs(
  records: Records,
  epoch: number,
  earlier: readonly Epoch[],
): Promise<readonly number[]> {
  const [since = NaN, last = NaN] = ((await records.get(key)) ?? '').split(' ').map(Number)
  const isUnbroken = last === earlier.at(-1)?.first
  records.put(key, `${isUnbroken ? since : epoch} ${epoch}`)
  return isUnbroken ? earlier.map(({ first }) => first).filter((first) => first >= since) : []
}

/** The key of the record with the first and the last epoch of the chain. */
const key = 'searched'
