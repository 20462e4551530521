import { onOneLine, sanitize } from '../terminal/output.ts'
import { localTime } from '../terminal/local-time.ts'
import type { Style } from '../terminal/output.ts'

/** A text that a host has found. */
export interface SearchItem {
  readonly session: string
  readonly chat?: string
  readonly turnId?: string
  readonly who: string
  readonly time: string
  readonly title: string
  readonly excerpt: {
    readonly text: string
    readonly matches: readonly { readonly start: number; readonly end: number }[]
  }
}

/** A found text as two lines: where it is, and what it says. `name` is the name of its session or chat. */
export function foundText({ who, time, title, excerpt }: SearchItem, name: string, style: Style): string {
  const place = [
    style.cyan(sanitize(name)),
    style.dim(localTime(time, { seconds: false })),
    style.dim(authors.get(who) ?? ''),
  ]
  const named = onOneLine(title) || style.dim('(no title)')
  return `${[...place, named].filter((part) => part !== '').join('  ')}\n    ${marked(excerpt, style)}\n`
}

const authors: ReadonlyMap<string, string> = new Map([
  ['user', 'you'],
  ['agent', 'agent'],
  ['tool', 'tool'],
  ['title', 'title'],
])

/** The excerpt with its matches in colour. The text comes from agents and users, so each part of it is sanitized. */
function marked({ text, matches }: SearchItem['excerpt'], { bold, yellow }: Style): string {
  let shown = ''
  let at = 0
  for (const { start, end } of matches) {
    if (start < at || end > text.length || end < start) continue
    shown += plain(text.slice(at, start)) + bold(yellow(plain(text.slice(start, end))))
    at = end
  }
  return shown + plain(text.slice(at))
}

function plain(text: string): string {
  return sanitize(text).replaceAll(/\s/g, ' ')
}
