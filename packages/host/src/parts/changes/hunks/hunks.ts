import { lineChanges } from '@atrium/protocol/text/line-diff'
import type { LineChange, LineRange } from '@atrium/protocol/text/line-diff'
import type { TextRange } from '@atrium/protocol/common/text'
import { sha256 } from './sha256.ts'

/** A part of a file that was changed. */
export interface Hunk extends LineChange {
  /** The hash of the removed and added lines. It stays the same when the hunk moves to other lines. */
  readonly hash: string
}

/** A file on both sides of a change. A missing file is empty. */
export interface FileSides {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** Computes the hunks of a change, in the order of lines. Undefined if a side is not text. */
export function hunksOf(sides: FileSides): readonly Hunk[] | undefined {
  if (sides.before.includes(0) || sides.after.includes(0)) return undefined
  const [before, after] = [linesOf(sides.before), linesOf(sides.after)]
  const changes = lineChanges(before.map(nameOf), after.map(nameOf))
  return changes.map((change) => {
    const removed = joined(part(before, change.before))
    const added = joined(part(after, change.after))
    const head = new TextEncoder().encode(`${removed.length} ${added.length}\n`)
    return { ...change, hash: sha256(joined([head, removed, added])) }
  })
}

/** Takes the given hunks of a change back. Returns the bytes of the later side without these hunks. */
export function withoutHunks(sides: FileSides, hunks: readonly Hunk[]): Uint8Array {
  const [before, after] = [linesOf(sides.before), linesOf(sides.after)]
  const parts: Uint8Array[] = []
  let next = 0
  for (const hunk of hunks) {
    parts.push(...after.slice(next, hunk.after.from), ...part(before, hunk.before))
    next = hunk.after.from + hunk.after.count
  }
  return joined([...parts, ...after.slice(next)])
}

/**
 * Whether a range of a side touches lines of a hunk. A range that ends at the beginning of a line does not contain the line. If
 * the hunk has no lines on this side, the range touches it if the range contains the line before or after the place of the
 * hunk.
 */
export function isTouched(hunk: Hunk, side: 'before' | 'after', { start, end }: TextRange): boolean {
  const first = start.line
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line
  const { from, count } = hunk[side]
  return count === 0 ? first <= from && from <= last + 1 : first < from + count && from <= last
}

/**
 * Splits bytes into lines. The lines keep their ends, so that a last line without an end differs from one with an
 * end.
 */
function linesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(lineFeed, from)
    const to = end < 0 ? bytes.length : end + 1
    lines.push(bytes.subarray(from, to))
    from = to
  }
  return lines
}

/**
 * Converts a line to a text for the comparison. Each byte becomes one character, so different lines become different
 * texts.
 */
function nameOf(line: Uint8Array): string {
  return latin.decode(line)
}

function part(lines: readonly Uint8Array[], { from, count }: LineRange): readonly Uint8Array[] {
  return lines.slice(from, from + count)
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const each of parts) {
    all.set(each, at)
    at += each.length
  }
  return all
}

const latin = new TextDecoder('latin1')
const lineFeed = 10
