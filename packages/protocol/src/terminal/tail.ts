import { limits } from '../limits.ts'
import type { TerminalContentPart, TerminalState } from './state.ts'

/**
 * What is kept of a terminal: its newest content. Once there is more than may be, the older half is forgotten, so that a
 * flood pays for that once in a while and not with every word.
 */
export function tailOf(state: TerminalState, most = limits.terminalLength): TerminalState {
  const { content } = state
  if (lengthOf(content) <= most) return state
  const kept: TerminalContentPart[] = []
  let room = Math.floor(most / 2)
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

/** A part weighs something even where it is empty: there may be very many. */
const partWeight = 64

function lengthOf(content: readonly TerminalContentPart[]): number {
  let length = 0
  for (const part of content) length += partLength(part)
  return length
}

function partLength(part: TerminalContentPart): number {
  if (part.type === 'unclassified') return partWeight + part.value.length
  return part.type === 'command' ? partWeight + part.commandLine.length + part.output.length : partWeight
}

function isText({ type }: TerminalContentPart): boolean {
  return type === 'unclassified' || type === 'command'
}

function cut(part: TerminalContentPart, room: number): TerminalContentPart {
  if (part.type === 'unclassified') return { ...part, value: lastOf(part.value, room) }
  return part.type === 'command' ? { ...part, output: lastOf(part.output, room) } : part
}

/** From the beginning of a line on, if one begins soon: in the middle of one there may be a half of something. */
function lastOf(text: string, room: number): string {
  const start = text.length - room
  const line = text.indexOf('\n', start - 1) + 1
  const from = line > 0 && line - start < 4096 ? line : start
  return text.slice(isLow(text.charCodeAt(from)) ? from + 1 : from)
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
