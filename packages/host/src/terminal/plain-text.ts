/**
 * Returns terminal output as a user would copy it: without escape sequences, and with the last text of a line that was
 * overwritten. This is no emulator: the output of full-screen programs does not become readable.
 */
export function plainText(output: string): string {
  const text = withoutEscapes(output)
  return text
    .split('\n')
    .map((line) => lastText(line))
    .join('\n')
    .trimEnd()
}

/** Returns a line as it looks in the end. The text after each carriage return overwrites the line from its beginning. */
function lastText(line: string): string {
  const ended = line.endsWith('\r') ? line.slice(0, -1) : line
  let shown = ''
  for (const text of ended.split('\r')) shown = text + shown.slice(text.length)
  return backspaced(shown)
}

function backspaced(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const character of line)
    if (character === '\b') kept.pop()
    else kept.push(character)
  return kept.join('')
}

/** Removes escape sequences in one pass. A regular expression is not used, because untrusted input could make it slow. */
function withoutEscapes(text: string): string {
  let out = ''
  let from = 0
  for (let at = text.indexOf(escape); at >= 0; at = text.indexOf(escape, from)) {
    out += text.slice(from, at)
    from = endOfSequence(text, at)
  }
  return withoutControls(out + text.slice(from))
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
/** OSC, DCS, SOS, PM and APC: sequences that last until a terminator. */
const strings = new Set([']', 'P', 'X', '^', '_'])
