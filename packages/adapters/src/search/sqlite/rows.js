/** The sum of the position of a text (`positionOf` in `words.ts`) and its row id in `texts` and `words`. */
export const END = 2 ** 52

/**
 * Returns the row id of the text at a position. The newest text has the lowest row id, because FTS5 reads lists of row
 * ids from the lowest on. Backwards, it must first read the whole list if a text was ever deleted.
 * @param {number} position
 */
export const rowAt = (position) => END - position

/**
 * Returns the position of the text with a row id.
 * @param {number} id
 */
export const positionAt = (id) => END - id
