/** A value in a frontmatter. `other`: a value that is not understood, such as a map; `what` names it in a message. */
export type YamlValue =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'other'; readonly what: string }

/** Parses the value of a field: the rest of its line, and the lines below that belong to it. */
export function valueOf(rest: string, below: readonly string[]): YamlValue {
  const start = rest.trim()
  const lines = trimmedEnd(below)
  if (/^[|>][-+\d]*(?:\s+#.*)?$/.test(start)) return text(blockText(lines, start.startsWith('>')))
  const inline = start.startsWith('#') ? '' : start
  if (inline === '') {
    const [first = ''] = lines.filter((line) => line.trim() !== '')
    if (isItem(first)) return blockList(lines)
    if (mapEntry.test(first.trim())) return other('a map')
  }
  return inlineValue([inline, ...lines.map((line) => line.trim())].join(' ').trim())
}

const mapEntry = /^[\w.$"'-]+[ \t]*:(?:[ \t]|$)/
const text = (value: string): YamlValue => ({ kind: 'text', text: value })
const other = (what: string): YamlValue => ({ kind: 'other', what })
const isItem = (line: string) => /^[ \t]*-(?:[ \t]|$)/.test(line)

function trimmedEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1)
}

/**
 * Reads the text below `|` or `>`. It keeps its line breaks below `|`. Below `>`, single line breaks become blanks.
 */
function blockText(lines: readonly string[], folds: boolean): string {
  const indents = lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.length - line.trimStart().length)
  const indent = indents[0] ?? 0
  const cut = lines.map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
  const joined = cut.join('\n')
  return folds ? joined.replace(/([^\n])\n(?=[^\n])/g, '$1 ').replace(/\n\n/g, '\n') : joined
}

/** Parses a list with a line for each item. A longer item continues on lines that are indented deeper. */
function blockList(lines: readonly string[]): YamlValue {
  const items: string[][] = []
  for (const line of lines.filter((each) => each.trim() !== '' && !each.trim().startsWith('#')))
    if (isItem(line)) items.push([line.trim().slice(1).trim()])
    else items.at(-1)?.push(line.trim())
  const texts: string[] = []
  for (const item of items) {
    const value = inlineValue(item.join(' '))
    if (value.kind !== 'text') return other('a list of lists or maps')
    if (isItem(item[0] ?? '') || (mapEntry.test(item[0] ?? '') && !/^["']/.test(item[0] ?? '')))
      return other('a list of lists or maps')
    texts.push(value.text)
  }
  return { kind: 'list', items: texts }
}

/**
 * Parses a value on one line. A leading `*` belongs to a text, because it often begins a glob. It is not read as a
 * YAML alias: anchors are not supported.
 */
function inlineValue(source: string): YamlValue {
  const first = source[0] ?? ''
  if (first === '{') return other('a map')
  if (first === '[') return inlineList(source)
  if (/[&!%@`?]/.test(first) && /^[&!%@`]|^\?(?: |$)/.test(source))
    return other('a value with a special sign')
  if (first !== '"' && first !== "'") return text(plainText(source))
  const quoted = quotedText(source, 0)
  if (!quoted || !/^\s*(?:#|$)/.test(source.slice(quoted.end))) return other('a text with a wrong quote')
  return text(quoted.text)
}

/** Reads a text without quotes. It ends at a comment. */
function plainText(source: string): string {
  const comment = source.search(/(?:^|[ \t])#/)
  const value = (comment < 0 ? source : source.slice(0, comment)).trim()
  return value === '~' || value === 'null' ? '' : value
}

function inlineList(source: string): YamlValue {
  const items: string[] = []
  let at = 1
  for (;;) {
    while (source[at] === ' ' || source[at] === '\t' || source[at] === ',') at++
    const c = source[at]
    if (c === undefined) return other('a list without an end')
    if (c === ']')
      return /^\s*(?:#|$)/.test(source.slice(at + 1)) ? { kind: 'list', items } : other('a list with a tail')
    if (c === '[' || c === '{') return other('a list of lists or maps')
    const quoted = c === '"' || c === "'" ? quotedText(source, at) : undefined
    if ((c === '"' || c === "'") && !quoted) return other('a text with a wrong quote')
    const end = quoted?.end ?? endOfItem(source, at)
    items.push(quoted?.text ?? source.slice(at, end).trim())
    at = end
  }
}

/** Finds the end of an item without quotes. A comma between braces belongs to a glob such as `*.{js,ts}`. */
function endOfItem(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; at++) {
    const c = source[at]
    if (c === '{') depth++
    else if (c === '}') depth--
    else if (depth <= 0 && (c === ',' || c === ']')) return at
  }
  return source.length
}

interface Quoted {
  readonly text: string
  /** The offset behind the closing quote. */
  readonly end: number
}

function quotedText(source: string, from: number): Quoted | undefined {
  const quote = source[from]
  const parts: string[] = []
  for (let at = from + 1; at < source.length; at++) {
    const c = source[at] ?? ''
    if (c === '\\' && quote === '"') {
      const escape = escapeAt(source, at)
      if (!escape) return undefined
      parts.push(escape.text)
      at = escape.end - 1
    } else if (c !== quote) parts.push(c)
    else if (quote === "'" && source[at + 1] === "'") parts.push(source[++at] ?? '')
    else return { text: parts.join(''), end: at + 1 }
  }
  return undefined
}

const escapes = new Map(
  Object.entries({ n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\', '/': '/', ' ': ' ' }),
)

function escapeAt(source: string, at: number): Quoted | undefined {
  const [, hex] = /^\\(x[\da-f]{2}|u[\da-f]{4})/i.exec(source.slice(at, at + 6)) ?? []
  if (hex !== undefined)
    return { text: String.fromCharCode(Number.parseInt(hex.slice(1), 16)), end: at + 1 + hex.length }
  const plain = escapes.get(source[at + 1] ?? '')
  return plain === undefined ? undefined : { text: plain, end: at + 2 }
}
