import type { Epoch } from '../log/epochs.ts'
import type { Records } from '../ports/records.ts'

/**
 * Returns the earlier epochs of which an index may have its versions. Since each of them, every host has had an index and has
 * noted its truncations, which the session list does not show. A host of an older build, or without an index, breaks this
 * chain. So does a store that was restored: it does not know the epochs of the index. Notes that this epoch continues the chain.
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

/** The record of the first epoch of the chain, and of its last. */
const key = 'searched'
