import { limits } from '../limits.ts'
import type { TerminalContentPart, TerminalState } from './state.ts'

/**
 * Shortens the content of a terminal that is longer than `limit` characters to about its newest `limit / 2`
 * characters. It drops more than the excess, so that fast output is not cut again with every chunk.
 */
export function tailOf(state: TerminalState, limit = limits.terminalLength): TerminalState {
  const { content } = state
  if (lengthOf(content) <= limit) return state
  const kept: TerminalContentPart[] = []
  let room = Math.floor(limit / 2)
  for (let at = content.length - 1; at >= 0 && room > 0; at--) {
    const part = content[at]
    if (!part) break
    const length = partLength(part)
    if (length > room && kept.length > 0 && !isText(part)) break
    kept.push(length > room ? cut(part, room) : part)
    room -= length
  }
  return { ...state, content: kept.toReversed() }
}

/** Number of characters that each part counts in addition to its text, because there may be very many empty parts. */
const partOverhead = 64

function lengthOf(content: readonly TerminalContentPart[]): number {
  let length = 0
  for (const part of content) length += partLength(part)
  return length
}

function partLength(part: TerminalContentPart): number {
  if (part.type === 'unclassified') return partOverhead + part.value.length
  return part.type === 'command' ? partOverhead + part.commandLine.length + part.output.length : partOverhead
}

function isText({ type }: TerminalContentPart): boolean {
  return type === 'unclassified' || type === 'command'
}

function cut(part: TerminalContentPart, room: number): TerminalContentPart {
  if (part.type === 'unclassified') return { ...part, value: lastOf(part.value, room) }
  return part.type === 'command' ? { ...part, output: lastOf(part.output, room) } : part
}

/**
 * Returns the last `room` characters of a text. If a line begins soon after that point, the result begins with this
 * line: the rest of a cut line may begin inside an escape sequence.
 */
function lastOf(text: string, room: number): string {
  const start = text.length - room
  const line = text.indexOf('\n', start - 1) + 1
  const from = line > 0 && line - start < 4096 ? line : start
  return text.slice(isLow(text.charCodeAt(from)) ? from + 1 : from)
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
