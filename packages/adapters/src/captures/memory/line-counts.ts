/**
 * The numbers of added and removed lines between two texts: what is not in a longest common subsequence of their lines. Its
 * cost grows with the product of the lengths, so it is for small texts only.
 */
export function countLines(
  before: Uint8Array,
  after: Uint8Array,
): { readonly added: number; readonly removed: number } {
  const [a, b] = [linesOf(before), linesOf(after)]
  let lengths = Array.from({ length: b.length + 1 }, () => 0)
  for (const line of a) {
    const next = [0]
    for (const [i, other] of b.entries())
      next.push(line === other ? (lengths[i] ?? 0) + 1 : Math.max(lengths[i + 1] ?? 0, next[i] ?? 0))
    lengths = next
  }
  const common = lengths.at(-1) ?? 0
  return { added: b.length - common, removed: a.length - common }
}

/** The lines of a text with their ends: a last line without an end differs from one with an end. */
function linesOf(bytes: Uint8Array): readonly string[] {
  return new TextDecoder('latin1').decode(bytes).match(/[^\n]*\n|[^\n]+$/g) ?? []
}
