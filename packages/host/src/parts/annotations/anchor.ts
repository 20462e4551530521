import type { Anchor } from '@atrium/protocol/annotations/own'
import type { TextRange } from '@atrium/protocol/common/text'
import { aligned } from './alignment.ts'

/**
 * A file as lines, and for each text the numbers of the lines that have it. It is made once for all annotations of
 * the file.
 */
export interface FileLines {
  readonly lines: readonly string[]
  readonly places: ReadonlyMap<string, readonly number[]>
}

export function fileLines(text: string): FileLines {
  const lines = text.split(/\r\n|\n|\r/)
  const places = new Map<string, number[]>()
  for (const [at, line] of lines.entries()) {
    const known = places.get(short(line))
    if (known) known.push(at)
    else places.set(short(line), [at])
  }
  return { lines, places }
}

/**
 * An anchor keeps `edgeLines` lines of each end of its text, `contextLines` lines before and after the text, and
 * `lineLength` characters of each line.
 */
const edgeLines = 8
const contextLines = 3
const lineLength = 160

/** Returns the anchor of a range: its text, and the lines around it. Undefined if the file has no such lines. */
export function anchorAt({ lines }: FileLines, resource: string, range: TextRange): Anchor | undefined {
  const [first, last] = coveredLines(range)
  if (last >= lines.length) return undefined
  const cut = (from: number, to: number) => lines.slice(Math.max(0, from), to).map(short)
  const middle = last - first + 1 > 2 * edgeLines
  return {
    resource,
    range,
    lines: middle
      ? [...cut(first, first + edgeLines), ...cut(last + 1 - edgeLines, last + 1)]
      : cut(first, last + 1),
    before: cut(first - contextLines, first),
    after: cut(last + 1, last + 1 + contextLines),
  }
}

/**
 * Finds the text of an anchor in a changed file. Returns its range there; undefined if no line of the text is left.
 * If lines at the beginning or the end of the text are gone, they may have been replaced. The range then includes the
 * same number of lines in their place, if the line next to the text (before or after it) was found. It does not go
 * beyond that line.
 */
export function locate(anchor: Anchor, file: FileLines): TextRange | undefined {
  if (isUnmoved(anchor, file)) return anchor.range
  const { before, lines, after, range } = anchor
  const [first, last] = coveredLines(range)
  const found = aligned([...before, ...lines, ...after], windowOf(anchor, file), first - before.length)
  const at = (index: number) => found.get(before.length + index)
  const left = lines.flatMap((_, index) => (at(index) === undefined ? [] : [index]))
  const [head, tail] = [left[0], left.at(-1)]
  if (head === undefined || tail === undefined) return undefined
  // Includes the lines that may have replaced lost lines at the beginning and at the end of the text, see above.
  const start = Math.max((at(-1) ?? Infinity) + 1, (at(head) ?? 0) - head)
  const end = Math.min((at(lines.length) ?? -Infinity) - 1, (at(tail) ?? 0) + lines.length - 1 - tail)
  const firstLine = Number.isFinite(start) ? Math.min(start, at(head) ?? 0) : (at(head) ?? 0)
  const lastLine = Number.isFinite(end) ? Math.max(end, at(tail) ?? 0) : (at(tail) ?? 0)
  const sameHead = at(0) === firstLine
  const sameTail = at(lines.length - 1) === lastLine
  // A range that ends at the beginning of a line does not cover that line.
  const beyond = range.end.line - last
  const whole = beyond > 0 ? 0 : (file.lines[lastLine]?.length ?? 0)
  return {
    start: { line: firstLine, character: sameHead ? range.start.character : 0 },
    end: { line: lastLine + beyond, character: sameTail || beyond > 0 ? range.end.character : whole },
  }
}

/** The first and the last line that a range covers. */
export function coveredLines({ start, end }: TextRange): readonly [first: number, last: number] {
  return [start.line, end.character === 0 && end.line > start.line ? end.line - 1 : end.line]
}

/** Whether the text of an anchor and the lines around it are where they were. */
function isUnmoved({ before, lines, after, range }: Anchor, file: FileLines): boolean {
  const [first, last] = coveredLines(range)
  const tailFrom = Math.ceil(lines.length / 2)
  const same = (wanted: string, line: number) =>
    line >= 0 && line < file.lines.length && short(file.lines[line] ?? '') === wanted
  const place = (index: number) => (index < tailFrom ? first + index : last + 1 - (lines.length - index))
  return (
    lines.every((line, index) => same(line, place(index))) &&
    before.every((line, index) => same(line, first - before.length + index)) &&
    after.every((line, index) => same(line, last + 1 + index))
  )
}

/** The part of a file in which the text is looked for. `from` is the number of its first line. */
interface Window {
  readonly from: number
  readonly lines: readonly string[]
}

/** The text is looked for near its rarest line: in this number of lines before it and after it. */
const windowLines = 1000

function windowOf({ lines, range }: Anchor, { lines: all, places }: FileLines): Window {
  const [first, last] = coveredLines(range)
  const there = lines.map((line) => places.get(line) ?? []).filter((found) => found.length > 0)
  const rarest = there.toSorted((a, b) => a.length - b.length)[0] ?? [first]
  const nearest = rarest.reduce((a, b) => (Math.abs(b - first) < Math.abs(a - first) ? b : a))
  const from = Math.max(0, nearest - windowLines - (last - first))
  return { from, lines: all.slice(from, nearest + windowLines + (last - first)).map(short) }
}

/** Cuts a long line. Long lines are compared by their beginnings only. */
function short(line: string): string {
  return line.slice(0, lineLength)
}
