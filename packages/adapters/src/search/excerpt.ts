import type { Excerpt } from '@atrium/host/ports/search-index'
import { limits } from '@atrium/protocol/limits'
import { separator } from './words.ts'

/** The marks before and after each found word. Indexed texts do not contain these characters. */
export const [opens, closes] = ['\u0001', '\u0002']
/** The sign for what was left out. */
export const gap = '…'
/** The maximum number of characters before the first found word, if an excerpt must be cut. */
const before = 60

type Match = Excerpt['matches'][number]

/**
 * Turns a text with `opens` and `closes` around its matches into an excerpt: on one line, not longer than the limit.
 */
export function excerptOf(marked: string): Excerpt {
  const matches: Match[] = []
  let text = ''
  let start = 0
  for (const part of marked.replaceAll(/\s+/g, ' ').split(boundaries)) {
    if (part === opens) start = text.length
    else if (part === closes) matches.push({ start, end: text.length })
    else if (part !== separator) text += part
  }
  return shortened({ text, matches })
}

// oxlint-disable-next-line no-control-regex
const boundaries = /([\u0001\u0002\u200b])/

/** Cuts an excerpt that is too long because of a very long word, so that its first match stays. */
function shortened({ text, matches }: Excerpt): Excerpt {
  const most = limits.excerptLength
  if (text.length <= most) return { text, matches }
  const first = matches[0]?.start ?? 0
  const from = first <= before ? 0 : wholeCharacter(text, first - before)
  const head = from === 0 ? '' : gap
  const to = wholeCharacter(text, Math.min(text.length, from + most - head.length - gap.length))
  const place = (at: number) => Math.min(Math.max(at, from), to) - from + head.length
  const kept = matches.filter(({ start, end }) => start < to && end > from)
  return {
    text: `${head}${text.slice(from, to)}${to < text.length ? gap : ''}`,
    matches: kept.map(({ start, end }) => ({ start: place(start), end: place(end) })),
  }
}

/** Returns the nearest place at or before `at` that is not in the middle of a surrogate pair. */
function wholeCharacter(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}
