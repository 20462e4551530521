import type { Piece } from './output-part.ts'

/**
 * What an escape sequence means: `held` is what stands between the escape and the final character. Known ones only: what
 * makes a viewer answer is a query; what would print, resize or read a viewer, or is not known, is nothing.
 */
export function escapeMeans(held: string, final: string): Piece | undefined {
  const [first = ''] = held
  if (held === '' && final === 'Z') return { query: '\x1b[c' }
  if (held === '' ? simple.includes(final) : charsets.includes(first) && held.length < 3)
    return { data: `\x1b${held}${final}` }
  if (held === '#' && '34568'.includes(final)) return { data: `\x1b#${final}` }
  return undefined
}

/** Save and restore, index, tab stop, single and locking shifts, keypad, margins, reset. */
const simple = '6789=>DEHMNOcno|}~'
/** What designates a character set. */
const charsets = '()*+-./'

export function sequenceMeans(held: string, final: string): Piece | undefined {
  const [, prefix, parameters = '', between = ''] = form.exec(held) ?? []
  if (prefix === undefined || tooMuch.test(parameters)) return undefined
  const key = prefix + between
  if (key === '' && final === 't')
    return reports.has(parameters) ? { query: `\x1b[${held}${final}` } : undefined
  if (queries.get(key)?.includes(final)) return { query: `\x1b[${held}${final}` }
  if (!shown.get(key)?.includes(final)) return undefined
  // With more parameters it is no scrolling but a way to follow the mouse.
  if (key === '' && final === 'T' && parameters.includes(';')) return undefined
  if (key === '?' && 'hl'.includes(final)) return modes(parameters, final)
  return { data: `\x1b[${held}${final}` }
}

const form = /^([<=>?]?)([\d:;]*)([ -/]*)$/
/** A number that no viewer should have to count to. */
const tooMuch = /\d{6}/

/** By the prefix and what stands before the final character. */
const shown: ReadonlyMap<string, string> = new Map([
  ['', '@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu'],
  ['?', 'JKhlrs'],
  ['>', 'mnu'],
  ['=', 'u'],
  ['<', 'u'],
  [' ', '@Aq'],
  ['!', 'p'],
  ['"', 'q'],
  ['#', 'pq{}'],
  ['$', 'rtvxz{'],
  ["'", '}~'],
  ['*', 'x'],
])

/**
 * Where a sequence ends that begins at a place, if it is one of those that are always shown as they are; else the place
 * itself. `sequenceMeans` says the same of it, and takes longer.
 */
export function plainSequence(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x1b || text.charCodeAt(at + 1) !== 0x5b) return at
  const hidden = text.charCodeAt(at + 2) === 0x3f
  for (let to = at + (hidden ? 3 : 2), number = 0; to < at + 64; to++) {
    const code = text.charCodeAt(to)
    if (code >= 0x30 && code <= 0x39) number = number * 10 + code - 0x30
    // Modes of which some speak, and numbers of more digits, are looked at closely.
    else if (number > (hidden ? 2027 : 99_999)) return at
    else if (code === 0x3a || code === 0x3b) number = 0
    else return (hidden ? plainModes : plainFinals).has(code) ? to + 1 : at
  }
  return at
}

const codes = (finals: string) => new Set(finals.split('').map((final) => final.charCodeAt(0)))
const plainFinals = codes('@ABCDEFGHIJKLMPSXZ`abdefghlmrsu')
const plainModes = codes('hl')

/** Attributes, status, modes, checksums, versions: whatever a terminal answers by itself. */
const queries: ReadonlyMap<string, string> = new Map([
  ['', 'cnx'],
  ['?', 'Sgmnu'],
  ['>', 'cq'],
  ['=', 'c'],
  ['"', 'v'],
  ['#', 'R|'],
  ['$', 'puw'],
  ['?$', 'p'],
  ['&', 'u'],
  ["'", '|'],
  ['*', 'y'],
])

/** Of what can be done with a window only asking for its state is anything here; titles are asked for by 20 and 21. */
const reports = new Set(['11', '13', '13;2', '14', '14;2', '15', '16', '18', '19'])

/** Those that make a viewer speak by itself, again and again: of colours, and of its size. */
const talkative = new Set(['2031', '2048'])

function modes(parameters: string, final: string): Piece | undefined {
  const kept = parameters.split(';').filter((mode) => !talkative.has(mode))
  return kept.length > 0 ? { data: `\x1b[?${kept.join(';')}${final}` } : undefined
}
