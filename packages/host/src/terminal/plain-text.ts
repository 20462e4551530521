/**
 * What a program wrote to its terminal, as a person would copy it: without the sequences that colour and move, lines that
 * were written over as they were last. Not an emulator: what draws whole screens is not text.
 */
export function plainText(written: string): string {
  const text = withoutEscapes(written)
  return text
    .split('\n')
    .map((line) => lastOver(line))
    .join('\n')
    .trimEnd()
}

/** A carriage return begins the line again. */
function lastOver(line: string): string {
  const ended = line.endsWith('\r') ? line.slice(0, -1) : line
  let shown = ''
  for (const over of ended.split('\r')) shown = over + shown.slice(over.length)
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

/** By hand, in one pass: whoever wrote it may want it to take long. */
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
/** OSC, DCS, SOS, PM and APC go on until they are ended. */
const strings = new Set([']', 'P', 'X', '^', '_'])
