import { valueOf } from './yaml-value.ts'
import type { YamlValue } from './yaml-value.ts'
import { Unusable } from './plugin-text.ts'

/**
 * The fields between the `---` lines at the start of a Markdown file, in a small subset of YAML: texts, booleans and lists of
 * texts. A field of another shape is an error only when it is read, because plugins may have fields of their own.
 */
export class Frontmatter {
  readonly #fields: ReadonlyMap<string, YamlValue>

  constructor(fields: ReadonlyMap<string, YamlValue>) {
    this.#fields = fields
  }

  text(key: string): string | undefined {
    const value = this.#value(key)
    if (value?.kind === 'list') throw new Unusable(`The field ${key} must be a text, and is a list.`)
    return value?.text
  }

  flag(key: string): boolean | undefined {
    const value = this.#value(key)
    if (!value) return undefined
    const flag = value.kind === 'text' ? flags.get(value.text.toLowerCase()) : undefined
    if (flag === undefined) throw new Unusable(`The field ${key} must be true or false.`)
    return flag
  }

  /**
   * Returns a field as a list of texts. A single text is split at its commas, except at commas in braces, which
   * belong to a glob.
   */
  list(key: string): readonly string[] | undefined {
    const value = this.#value(key)
    if (!value) return undefined
    return value.kind === 'list' ? value.items : splitAtCommas(value.text)
  }

  #value(key: string): Exclude<YamlValue, { kind: 'other' }> | undefined {
    const value = this.#fields.get(key)
    if (value?.kind === 'other')
      throw new Unusable(`The field ${key} is ${value.what}, which is not understood.`)
    return value?.kind === 'text' && value.text === '' ? undefined : value
  }
}

const flags = new Map([
  ['true', true],
  ['false', false],
])

export interface MarkdownFile {
  readonly fields: Frontmatter
  readonly body: string
}

/** Splits a Markdown file into its frontmatter and its body. A file need not have a frontmatter. */
export function markdownFile(text: string, maxLength: number): MarkdownFile {
  const [opening] = /^---[ \t]*\r?\n/.exec(text) ?? []
  if (opening === undefined) return { fields: new Frontmatter(new Map()), body: text }
  const lines: string[] = []
  let at = opening.length
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end).replace(/\r$/, '')
    const next = end < 0 ? text.length : end + 1
    if (next > maxLength) throw new Unusable(`Its frontmatter is longer than ${maxLength} characters.`)
    if (/^---[ \t]*$/.test(line))
      return { fields: new Frontmatter(fieldsOf(lines)), body: text.slice(next).replace(/^(?:\r?\n)+/, '') }
    lines.push(line)
    at = next
  }
  throw new Unusable('Its frontmatter has no end: a line with --- is missing.')
}

/**
 * Parses the fields of a frontmatter. A field is a line `key: value`, with the lines below it that are indented or
 * begin with `-`.
 */
function fieldsOf(lines: readonly string[]): ReadonlyMap<string, YamlValue> {
  const fields = new Map<string, YamlValue>()
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    if (isBlank(line)) {
      at++
      continue
    }
    const [, bare, quoted, rest = ''] =
      /^(?:([\w.$-]+)|["']([\w.$ -]+)["'])[ \t]*:(?:[ \t](.*))?$/.exec(line) ?? []
    const key = bare ?? quoted
    // The number of the line in the file: line 1 is the opening `---`, and `at` counts from 0 after it.
    if (key === undefined) throw new Unusable(`Line ${at + 2} of its frontmatter is not understood.`)
    if (fields.has(key)) throw new Unusable(`The field ${key} stands twice in its frontmatter.`)
    let end = at + 1
    while (end < lines.length && belongsToField(lines[end] ?? '')) end++
    fields.set(key, valueOf(rest, lines.slice(at + 1, end)))
    at = end
  }
  return fields
}

const isBlank = (line: string) => /^\s*(?:#|$)/.test(line)
const belongsToField = (line: string) => /^(?:[ \t]|-(?:[ \t]|$)|$)/.test(line)

function splitAtCommas(text: string): readonly string[] {
  const items: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at <= text.length; at++) {
    const c = text[at]
    if (c === '{') depth++
    else if (c === '}') depth--
    else if (c === undefined || (c === ',' && depth <= 0)) {
      items.push(text.slice(from, at).trim())
      from = at + 1
    }
  }
  return items.filter((item) => item !== '')
}
