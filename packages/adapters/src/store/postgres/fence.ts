import { Failure } from './failure.ts'
import type { Link, Query } from './link.ts'

/** The owner of a store: its epoch, the connection that writes, and the one that reads. */
export interface Owner {
  readonly link: Link
  readonly reading: Link
  readonly epoch: number
}

/** Returns the failure of an owner whose epoch is over. */
export async function deposed(query: Query, epoch: number): Promise<Failure> {
  const { rows } = await query<{ readonly epoch: number; readonly node: string | null }>(
    'SELECT epoch.epoch AS epoch, node FROM epoch, lease',
  )
  const { epoch: newer, node } = rows[0] ?? {}
  return new Failure('deposed', `epoch ${epoch} is over: epoch ${newer} has begun at ${node}`)
}

/** Locks the epoch of an owner until the end of the transaction. Throws if the epoch is over. */
export async function fence(query: Query, epoch: number): Promise<void> {
  const { rowCount } = await query('SELECT 1 FROM epoch WHERE epoch = $1 FOR SHARE', [epoch])
  if (rowCount === 0) throw await deposed(query, epoch)
}
