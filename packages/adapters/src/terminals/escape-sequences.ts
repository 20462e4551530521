import type { OutputPart } from './output-part.ts'

/**
 * Parses an escape sequence. `intermediates` are the characters between ESC and the final character. A sequence that
 * a viewer (a client that shows the terminal) would answer becomes a query. Returns undefined for an unknown
 * sequence, and for one by which a program could make a viewer print, resize it or read from it.
 */
export function parseEscape(intermediates: string, final: string): OutputPart | undefined {
  const [first = ''] = intermediates
  if (intermediates === '' && final === 'Z') return { query: '\x1b[c' }
  const known =
    intermediates === '' ? simple.includes(final) : charsets.includes(first) && intermediates.length < 3
  if (known) return { data: `\x1b${intermediates}${final}` }
  if (intermediates === '#' && '34568'.includes(final)) return { data: `\x1b#${final}` }
  return undefined
}

/**
 * Final characters of the sequences without intermediates that are shown: save and restore, index, tab stop, single
 * and locking shifts, keypad, margins, reset.
 */
const simple = '6789=>DEHMNOcno|}~'
/** The first intermediates of sequences that designate a character set. */
const charsets = '()*+-./'

/** Parses a control sequence (CSI); `body` is the text between `ESC [` and the final character. */
export function parseCsi(body: string, final: string): OutputPart | undefined {
  const [, prefix, parameters = '', intermediates = ''] = form.exec(body) ?? []
  if (prefix === undefined || hugeNumber.test(parameters)) return undefined
  const key = prefix + intermediates
  if (key === '' && final === 't')
    return reports.has(parameters) ? { query: `\x1b[${body}${final}` } : undefined
  if (queries.get(key)?.includes(final)) return { query: `\x1b[${body}${final}` }
  if (!shown.get(key)?.includes(final)) return undefined
  // With several parameters, T is mouse highlight tracking and not scrolling.
  if (key === '' && final === 'T' && parameters.includes(';')) return undefined
  if (key === '?' && 'hl'.includes(final)) return modes(parameters, final)
  return { data: `\x1b[${body}${final}` }
}

const form = /^([<=>?]?)([\d:;]*)([ -/]*)$/
/**
 * A number of six or more digits. A sequence with one is removed, because such a repeat count would keep a viewer
 * busy.
 */
const hugeNumber = /\d{6}/

/** Final characters of sequences that are shown, by prefix and intermediates. */
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
 * Returns the end of a control sequence that begins at `at`, if the sequence is always shown unchanged; else `at` itself.
 * This is a fast path: `parseCsi` gives the same result, but takes longer.
 */
export function plainCsiEnd(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x1b || text.charCodeAt(at + 1) !== 0x5b) return at
  const isPrivate = text.charCodeAt(at + 2) === 0x3f
  for (let to = at + (isPrivate ? 3 : 2), number = 0; to < at + 64; to++) {
    const code = text.charCodeAt(to)
    if (code >= 0x30 && code <= 0x39) number = number * 10 + code - 0x30
    // Private modes above 2027 may be reporting modes, and large numbers may be refused: `parseCsi` decides.
    else if (number > (isPrivate ? 2027 : 99_999)) return at
    else if (code === 0x3a || code === 0x3b) number = 0
    else return (isPrivate ? plainModes : plainFinals).has(code) ? to + 1 : at
  }
  return at
}

const codes = (finals: string) => new Set(finals.split('').map((final) => final.charCodeAt(0)))
const plainFinals = codes('@ABCDEFGHIJKLMPSXZ`abdefghlmrsu')
const plainModes = codes('hl')

/** Final characters of queries: attributes, status, modes, checksums, versions. */
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

/** Window operations that are queries of the state. The queries of titles, 20 and 21, are left out. */
const reports = new Set(['11', '13', '13;2', '14', '14;2', '15', '16', '18', '19'])

/** Modes in which a viewer sends reports without being asked: about colours, and about its size. */
const reportingModes = new Set(['2031', '2048'])

function modes(parameters: string, final: string): OutputPart | undefined {
  const kept = parameters.split(';').filter((mode) => !reportingModes.has(mode))
  return kept.length > 0 ? { data: `\x1b[?${kept.join(';')}${final}` } : undefined
}
