import { Failure } from './failure.js'

/** @typedef {import('./link.js').Query} Query */

/**
 * Returns the failure of an owner whose epoch is over.
 * @param {Query} query
 * @param {number} epoch
 */
export async function deposed(query, epoch) {
  const { rows } = await query('SELECT epoch.epoch AS epoch, node FROM epoch, lease')
  const { epoch: newer, node } = rows[0] ?? {}
  return new Failure('deposed', `epoch ${epoch} is over: epoch ${newer} has begun at ${node}`)
}

/**
 * Locks the epoch of an owner until the end of the transaction. Throws if the epoch is over.
 * @param {Query} query
 * @param {number} epoch
 */
export async function fence(query, epoch) {
  const { rowCount } = await query('SELECT 1 FROM epoch WHERE epoch = $1 FOR SHARE', [epoch])
  if (rowCount === 0) throw await deposed(query, epoch)
}
