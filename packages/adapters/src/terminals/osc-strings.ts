import type { CommandMark, OutputPart } from './output-part.ts'

export interface OscOptions {
  /**
   * A secret that the shell adds to its marks. If it is set, marks without it are ignored; if not, all marks are
   * accepted.
   */
  readonly nonce?: string
  /** The name of this machine. A directory that is reported for another machine is ignored. */
  readonly hostname?: string
  readonly titleLength: number
}

/** Parses an operating system command (OSC). Unknown commands, and clipboard access, give undefined. */
export function parseOsc(body: string, options: OscOptions): OutputPart | undefined {
  const [, number = '', rest = ''] = /^(\d{1,4})(?:;(.*))?$/s.exec(body.replace(controls, '')) ?? []
  return parsers.get(Number(number || NaN))?.(rest, options, number)
}

type ParseOsc = (rest: string, options: OscOptions, number: string) => OutputPart | undefined

const title: ParseOsc = (rest, { titleLength }) => ({
  title: withoutLoneSurrogates(withoutControls(rest).slice(0, titleLength)),
})

/**
 * Parses a colour command. A command that sets a colour is shown, and so is a reset (104, 110 to 119), which has no
 * value. A query of a colour is removed, because each viewer has other colours.
 */
const colours: ParseOsc = (rest, _, number) =>
  /^[\w#:;./]*$/.test(rest) && (rest || Number(number) > 100)
    ? { data: `\x1b]${number}${rest && ';'}${rest}\x1b\\` }
    : undefined

/** Parses a hyperlink. A link with another scheme than http, https or mailto is replaced by the end of a link. */
const link: ParseOsc = (rest) => {
  const at = rest.indexOf(';')
  const allowed = /^[ -~]*$/.test(rest) && /^(?:https?:|mailto:|$)/i.test(rest.slice(at + 1))
  return at < 0 ? undefined : { data: `\x1b]8;${allowed ? rest : ';'}\x1b\\` }
}

const currentDirectory: ParseOsc = (rest, { nonce, hostname }) => {
  const [, host = '', path] = /^file:\/\/([^/]*)(\/.*)$/.exec(rest) ?? []
  if (nonce !== undefined || path === undefined) return undefined
  return ['', 'localhost', hostname?.toLowerCase()].includes(host.toLowerCase())
    ? cwdPart(percentDecoded(path))
    : undefined
}

const commandMark: ParseOsc = (rest, { nonce }) => {
  const fields = rest.split(';')
  if (nonce !== undefined && (fields.length < 2 || fields.pop() !== nonce)) return undefined
  const [letter = '', ...more] = fields
  const [first = ''] = more
  if (letter === 'P') return first.startsWith('Cwd=') ? cwdPart(unescaped(first.slice(4))) : undefined
  const mark = marks.get(letter)?.(first)
  return mark && { mark }
}

type ParseMark = (first: string) => CommandMark

const marks: ReadonlyMap<string, ParseMark> = new Map<string, ParseMark>([
  ['A', () => ({ at: 'prompt' })],
  ['C', (first) => executed(first)],
  ['D', (first) => ({ at: 'finished', ...(/^-?\d{1,6}$/.test(first) && { exitCode: Number(first) }) })],
  ['E', (first) => ({ at: 'line', line: lineText(unescaped(first)) })],
])

/** Parses the mark of a command that begins to run. The fish shell sends the command line with this mark. */
function executed(first: string): CommandMark {
  const line = first.startsWith('cmdline_url=')
    ? percentDecoded(first.slice('cmdline_url='.length))
    : undefined
  return line === undefined ? { at: 'executed' } : { at: 'executed', line: lineText(line) }
}

const parsers: ReadonlyMap<number, ParseOsc> = new Map([
  ...[0, 1, 2].map((number) => [number, title] as const),
  ...[4, 104, ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((n) => [10 + n, 110 + n])].map(
    (number) => [number, colours] as const,
  ),
  [7, currentDirectory],
  [8, link],
  [133, commandMark],
  [633, commandMark],
  [
    1337,
    (rest, { nonce }) =>
      nonce === undefined && rest.startsWith('CurrentDir=') ? cwdPart(rest.slice(11)) : undefined,
  ],
])

function cwdPart(path: string | undefined): OutputPart | undefined {
  const cwd = path === undefined ? undefined : directoryUri(path)
  return cwd === undefined ? undefined : { cwd }
}

/** Returns the `file:` URI of an absolute path; undefined for a relative one. */
export function directoryUri(path: string): string | undefined {
  const slashed = /^[a-z]:[\\/]/i.test(path) ? `/${path.replaceAll('\\', '/')}` : path
  if (!slashed.startsWith('/')) return undefined
  return `file://${withoutLoneSurrogates(slashed).split('/').map(encodeURIComponent).join('/')}`
}

function percentDecoded(text: string): string | undefined {
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

/** Removes control characters except newline and tab. */
const lineText = (text: string) => withoutLoneSurrogates(text.replace(/[^\P{Cc}\n\t]/gu, ''))

/** Removes control characters and characters that change the writing direction. */
const withoutControls = (text: string) =>
  text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')

/** Removes surrogates without their other half, which a cut leaves behind. */
const withoutLoneSurrogates = (text: string) =>
  text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '')

/** Control characters inside an OSC string, which are not part of it. */
const controls = /[\x00-\x1f\x7f]/g
