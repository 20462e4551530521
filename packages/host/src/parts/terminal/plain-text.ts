/**
 * Returns terminal output as a user would copy it: without escape sequences, and with the last text of a line that was
 * overwritten or erased. This is no emulator: the output of full-screen programs does not become readable.
 */
export function plainText(output: string): string {
  const text = withoutEscapes(output)
  return text
    .split('\n')
    .map((line) => lastText(line))
    .join('\n')
    .trimEnd()
}

/** Returns a line as it looks in the end. */
function lastText(line: string): string {
  const ended = line.endsWith('\r') ? line.slice(0, -1) : line
  if (!moves.some((move) => ended.includes(move))) return ended
  let column = 0
  // The characters by column. Columns that nothing was written to are holes: to fill them after each erasure would take
  // too long.
  const shown: string[] = []
  for (const character of ended)
    if (character === '\r') column = 0
    else if (character === '\b') column = Math.max(0, column - 1)
    else if (character === eraseRest) shown.length = Math.min(shown.length, column)
    else if (character === eraseLine) shown.length = 0
    else shown[column++] = character
  return Array.from(shown, (character: string | undefined) => character ?? ' ').join('')
}

/**
 * Removes escape sequences in one pass. Sequences that change the line of the cursor are not removed: each becomes one
 * character. A regular expression is not used, because untrusted input could make it slow.
 */
function withoutEscapes(text: string): string {
  let out = ''
  let from = 0
  for (let at = text.indexOf(escape); at >= 0; at = text.indexOf(escape, from)) {
    out += withoutControls(text.slice(from, at))
    from = endOfSequence(text, at)
    out += lineChanges.get(text.slice(at + 1, from)) ?? ''
  }
  return out + withoutControls(text.slice(from))
}

function endOfSequence(text: string, start: number): number {
  const kind = text.charAt(start + 1)
  let at = start + 2
  if (kind === '[') {
    while (at < text.length && (text.charCodeAt(at) < 0x40 || text.charCodeAt(at) > 0x7e)) at++
    return at + 1
  }
  if (!strings.has(kind)) return /[ -/]/.test(kind) ? at + 1 : at
  while (at < text.length && text.charAt(at) !== bell && !text.startsWith(`${escape}\\`, at)) at++
  return text.charAt(at) === bell ? at + 1 : at + 2
}

function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\0-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '')
}

const escape = '\x1b'
const bell = '\x07'
/** Erases the line from the cursor on. No control character of a program is taken for this: they are removed. */
const eraseRest = '\0'
/** Erases the line of the cursor. */
const eraseLine = '\x01'
/** The characters after which the next character does not follow the previous one. */
const moves = ['\r', '\b', eraseRest, eraseLine]
/**
 * The sequences that change the line of the cursor, and the character that stands for each: EL, ED and CHA. ED also
 * erases the lines below, which are not written yet.
 */
const lineChanges: ReadonlyMap<string, string> = new Map([
  ['[K', eraseRest],
  ['[0K', eraseRest],
  ['[2K', eraseLine],
  ['[J', eraseRest],
  ['[0J', eraseRest],
  ['[G', '\r'],
  ['[1G', '\r'],
])
/** OSC, DCS, SOS, PM and APC: sequences that last until a terminator. */
const strings = new Set([']', 'P', 'X', '^', '_'])
