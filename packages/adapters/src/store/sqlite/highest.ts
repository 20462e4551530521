import type { Database } from '../database.ts'
import { Damage } from '../lines.ts'

/** Returns the highest sequence number that may have been assigned: at least that of every envelope, even if the stored value is damaged. */
export function highest(db: Database): number {
  const { value } =
    db
      .prepare<{ readonly value: number }>(
        `SELECT max(value, (SELECT ifnull(max(seq), 0) FROM envelopes), (SELECT ifnull(max(last), 0) FROM segments)) AS value
         FROM meta WHERE key = 'upTo'`,
      )
      .get() ?? {}
  // Without the highest used number, no new sequence number is safe to assign.
  if (value === undefined || !Number.isSafeInteger(value)) throw new Damage('its highest number is missing')
  return value
}
