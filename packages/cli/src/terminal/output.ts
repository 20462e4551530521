/** The output of a command: its payload goes to stdout, remarks about its work go to stderr. */
export interface Output {
  readonly json: boolean
  readonly quiet: boolean
  /** Whether a user at a terminal can be asked: stdin and stderr are terminals, and `--json` is absent. */
  readonly interactive: boolean
  readonly style: Style
  /** Whether stdout gets colours. */
  readonly coloured: boolean
  /** Prints payload to stdout: one JSON document per line with `--json`, otherwise the readable text. */
  print(value: object, readable: () => string): void
  /** Prints a JSON document to stdout with `--json`, otherwise nothing. */
  printJson(value: object): void
  /** Reports a finished change: a JSON document on stdout with `--json`, otherwise a sentence on stderr. */
  report(value: object, sentence: () => string): void
  /** Writes a remark to stderr; nothing with `--quiet` or `--json`. */
  note(text: string): void
}

export type Style = { readonly [S in keyof typeof codes]: (text: string) => string }

/** The SGR parameters that switch each style on and off. */
const codes = {
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
} as const

export interface OutputOptions {
  readonly json?: boolean
  readonly quiet?: boolean
}

export function output({ json = false, quiet = false }: OutputOptions, env = process.env): Output {
  const { stdin, stdout, stderr } = process
  const print: Output['print'] = (value, readable) =>
    void stdout.write(json ? `${JSON.stringify(value)}\n` : withNewline(readable()))
  const note: Output['note'] = (text) => void (quiet || json || stderr.write(withNewline(text)))
  const coloured = usesColour(stdout.isTTY === true, env)
  return {
    json,
    quiet,
    coloured,
    interactive: stdin.isTTY === true && stderr.isTTY === true && !json,
    style: styled(coloured),
    print,
    printJson: (value) => void (json && print(value, () => '')),
    report: (value, sentence) => (json ? print(value, () => '') : note(sentence())),
    note,
  }
}

/**
 * Whether the output has colours. Only terminals get colours by default. `NO_COLOR` switches them off; `FORCE_COLOR`
 * switches them on, for example in a pipe to a pager.
 */
export function usesColour(tty: boolean, env: NodeJS.ProcessEnv): boolean {
  if (env['NO_COLOR']) return false
  if (env['FORCE_COLOR'] !== undefined) return env['FORCE_COLOR'] !== '0'
  return tty && env['TERM'] !== 'dumb' && !env['CI']
}

export function styled(on: boolean): Style {
  const paint =
    ([open, close]: readonly [number, number]) =>
    (text: string) =>
      on && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    inverse: paint(codes.inverse),
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    blue: paint(codes.blue),
    cyan: paint(codes.cyan),
  }
}

/**
 * Replaces control and bidi characters with U+FFFD and drops carriage returns. Text of a host, an agent or a file may
 * contain escape sequences, and the terminal must not execute them.
 */
export function sanitize(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => (character === '\r' ? '' : '\ufffd'),
  )
}

/** Sanitizes a text and joins its lines with single spaces. */
export function onOneLine(text: string): string {
  return sanitize(text).replaceAll(/\s+/g, ' ').trim()
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
