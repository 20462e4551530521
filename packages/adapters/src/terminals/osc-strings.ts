import type { Mark, Piece, Trust } from './output-part.ts'

/** What an operating system command (OSC) means. What is not known, the clipboard among it, is nothing. */
export function stringMeans(held: string, trust: Trust): Piece | undefined {
  const [, number = '', rest = ''] = /^(\d{1,4})(?:;(.*))?$/s.exec(held.replace(controls, '')) ?? []
  return meanings.get(Number(number || NaN))?.(rest, trust, number)
}

type StringMeaning = (rest: string, trust: Trust, number: string) => Piece | undefined

const title: StringMeaning = (rest, { titleLength }) => ({
  title: whole(readable(rest).slice(0, titleLength)),
})

/** A colour that is asked for is not answered: each viewer has others. One that is set back needs no value. */
const colours: StringMeaning = (rest, _, number) =>
  /^[\w#:;./]*$/.test(rest) && (rest || Number(number) > 100)
    ? { data: `\x1b]${number}${rest && ';'}${rest}\x1b\\` }
    : undefined

/** A link that leads elsewhere than to the web or a mailbox is none, and neither goes the one before it on. */
const link: StringMeaning = (rest) => {
  const at = rest.indexOf(';')
  const fine = /^[ -~]*$/.test(rest) && /^(?:https?:|mailto:|$)/i.test(rest.slice(at + 1))
  return at < 0 ? undefined : { data: `\x1b]8;${fine ? rest : ';'}\x1b\\` }
}

const reported: StringMeaning = (rest, { nonce, hostname }) => {
  const [, host = '', path] = /^file:\/\/([^/]*)(\/.*)$/.exec(rest) ?? []
  if (nonce !== undefined || path === undefined) return undefined
  return ['', 'localhost', hostname?.toLowerCase()].includes(host.toLowerCase())
    ? directory(decoded(path))
    : undefined
}

const marked: StringMeaning = (rest, { nonce }) => {
  const fields = rest.split(';')
  if (nonce !== undefined && (fields.length < 2 || fields.pop() !== nonce)) return undefined
  const [letter = '', ...more] = fields
  const [first = ''] = more
  if (letter === 'P') return first.startsWith('Cwd=') ? directory(unescaped(first.slice(4))) : undefined
  const mark = marks.get(letter)?.(first)
  return mark && { mark }
}

type MarkMeaning = (first: string) => Mark

const marks: ReadonlyMap<string, MarkMeaning> = new Map<string, MarkMeaning>([
  ['A', () => ({ at: 'prompt' })],
  ['C', (first) => executed(first)],
  ['D', (first) => ({ at: 'finished', ...(/^-?\d{1,6}$/.test(first) && { exitCode: Number(first) }) })],
  ['E', (first) => ({ at: 'line', line: plain(unescaped(first)) })],
])

/** fish gives the line with it. */
function executed(first: string): Mark {
  const line = first.startsWith('cmdline_url=') ? decoded(first.slice('cmdline_url='.length)) : undefined
  return line === undefined ? { at: 'executed' } : { at: 'executed', line: plain(line) }
}

const meanings: ReadonlyMap<number, StringMeaning> = new Map([
  ...[0, 1, 2].map((number) => [number, title] as const),
  ...[4, 104, ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((n) => [10 + n, 110 + n])].map(
    (number) => [number, colours] as const,
  ),
  [7, reported],
  [8, link],
  [133, marked],
  [633, marked],
  [
    1337,
    (rest, { nonce }) =>
      nonce === undefined && rest.startsWith('CurrentDir=') ? directory(rest.slice(11)) : undefined,
  ],
])

function directory(path: string | undefined): Piece | undefined {
  const cwd = path === undefined ? undefined : directoryUri(path)
  return cwd === undefined ? undefined : { cwd }
}

/** A directory as a URI, where it is an absolute path. */
export function directoryUri(path: string): string | undefined {
  const slashed = /^[a-z]:[\\/]/i.test(path) ? `/${path.replaceAll('\\', '/')}` : path
  if (!slashed.startsWith('/')) return undefined
  return `file://${whole(slashed).split('/').map(encodeURIComponent).join('/')}`
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const unescaped = (text: string) =>
  text.replace(/\\(?:\\|x([\da-f]{2}))/gi, (_, hex?: string) =>
    hex === undefined ? '\\' : String.fromCharCode(parseInt(hex, 16)),
  )

/** A line keeps what separates its parts; whatever else commands a terminal is gone from it. */
const plain = (text: string) => whole(text.replace(/[^\P{Cc}\n\t]/gu, ''))

const readable = (text: string) => text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')

/** Without halves of characters that have been cut. */
const whole = (text: string) =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '')

/** Control characters within a string are no part of it. */
const controls = /[\x00-\x1f\x7f]/g
