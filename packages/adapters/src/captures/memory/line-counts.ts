import { lineChanges } from '@atrium/protocol/text/line-diff'

/** The numbers of added and removed lines between two texts. */
export function countLines(
  before: Uint8Array,
  after: Uint8Array,
): { readonly added: number; readonly removed: number } {
  const changes = lineChanges(linesOf(before), linesOf(after))
  const sum = (side: 'before' | 'after') => changes.reduce((all, change) => all + change[side].count, 0)
  return { added: sum('after'), removed: sum('before') }
}

/** The lines of a text with their ends: a last line without an end differs from one with an end. */
function linesOf(bytes: Uint8Array): readonly string[] {
  return new TextDecoder('latin1').decode(bytes).match(/[^\n]*\n|[^\n]+$/g) ?? []
}
