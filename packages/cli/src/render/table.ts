import type { Output } from '../terminal/output.ts'

/** Formats rows as a table. Each column is as wide as its widest cell; the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) =>
        at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)),
      )
      .join('  ')
  return rows.map(line).join('\n')
}

/**
 * Returns the number of terminal columns of a text: none for colour codes and combining marks, two for wide characters.
 */
export function widthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex
  const plain = text.replace(/\u001b\[[0-9;]*m/g, '')
  let width = 0
  for (const character of plain)
    width += /\p{Mark}|\u200d/u.test(character) ? 0 : wide.test(character) ? 2 : 1
  return width
}

const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

export interface Listing<T> {
  readonly document: (item: T) => object
  readonly row: (item: T) => readonly string[]
  /** The note about an empty list. */
  readonly empty?: string
}

/** Prints a list: one document per line with `--json`, otherwise a table. */
export function printList<T>(
  { json, print, printJson, note }: Output,
  items: readonly T[],
  { document, row, empty = '' }: Listing<T>,
): void {
  if (json) for (const item of items) printJson(document(item))
  else if (items.length > 0) print({}, () => table(items.map(row)))
  else note(empty)
}
