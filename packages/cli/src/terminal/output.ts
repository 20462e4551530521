/** How a command speaks: the payload on stdout, everything about it on stderr. */
export interface Voice {
  readonly json: boolean
  readonly quiet: boolean
  /** Whether somebody sits there who can be asked. */
  readonly asks: boolean
  readonly style: Style
  /** Payload: one JSON document a line with `--json`, else what a person reads. */
  tell(value: object, readable: () => string): void
  /** What was done: a document for a program, a sentence on stderr for a person. */
  did(value: object, sentence: () => string): void
  /** Payload as it comes, without a line of its own. Not with `--json`. */
  write(text: string): void
  /** About what is going on; never with `--quiet`. */
  note(text: string): void
}

export type Style = { readonly [S in keyof typeof codes]: (text: string) => string }

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const

export interface Manners {
  readonly json?: boolean
  readonly quiet?: boolean
}

export function voice({ json = false, quiet = false }: Manners, env = process.env): Voice {
  const { stdin, stdout, stderr } = process
  const tell: Voice['tell'] = (value, readable) =>
    void stdout.write(json ? `${JSON.stringify(value)}\n` : ended(readable()))
  const note: Voice['note'] = (text) => void (quiet || json || stderr.write(ended(text)))
  return {
    json,
    quiet,
    asks: stdin.isTTY === true && stderr.isTTY === true && !json,
    style: styled(colourful(stdout.isTTY === true, env)),
    tell,
    did: (value, sentence) => (json ? tell(value, () => '') : note(sentence())),
    write: (text) => void (json || stdout.write(text)),
    note,
  }
}

/** On a terminal, unless somebody said no; `FORCE_COLOR` is for those who pipe into a pager. */
export function colourful(tty: boolean, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0'
  return tty && env['TERM'] !== 'dumb' && !env['CI']
}

export function styled(on: boolean): Style {
  const paint =
    ([open, close]: readonly [number, number]) =>
    (text: string) =>
      on && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return Object.fromEntries(Object.entries(codes).map(([name, pair]) => [name, paint(pair)])) as Style
}

/**
 * What comes from a host, an agent or a file is shown, not obeyed: no escape sequence of it reaches the terminal.
 */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => (character === '\r' ? '' : '\ufffd'),
  )
}

/** The same on one line, for a table. */
export function onOneLine(text: string): string {
  return harmless(text).replaceAll(/\s+/g, ' ').trim()
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
