/** The row id of position 0 (`positionOf` in `words.ts`). A later position has a lower row id. */
export const OLDEST_ROW = 2 ** 52

/**
 * Returns the row id of the text at a position. The newest text has the lowest row id, because FTS5 reads lists of row
 * ids from the lowest on. Backwards, it must first read the whole list if a text was ever deleted.
 * @param {number} position
 */
export const rowAt = (position) => OLDEST_ROW - position

/**
 * Returns the position of the text with a row id.
 * @param {number} id
 */
export const positionAt = (id) => OLDEST_ROW - id
