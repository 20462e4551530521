import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { WordWrap } from './word-wrap.ts'

export interface MarkdownOptions {
  readonly style: Style
  /**
   * Whether colours are used. Without them the marks of bold and code stay in the text, because nothing else shows
   * them.
   */
  readonly colour: boolean
  /** The width of the terminal. A function, because the width changes. Absent: lines are not wrapped. */
  readonly columns?: () => number
}

/**
 * Renders streamed Markdown for a terminal. Output cannot be taken back, so the renderer holds back ambiguous input: the
 * first characters of a line, a star, or a word that may not fit. The output does not depend on how the text is cut
 * into pieces.
 */
export class Markdown {
  readonly #options: MarkdownOptions
  readonly #wrap: WordWrap
  /** Input whose meaning is not decided yet. */
  #rest = ''
  #atStart = true
  /** The kind of fence of the current code block; undefined outside of code blocks. */
  #fence: string | undefined
  /** The backticks that end the current inline code; empty outside of inline code. */
  #code = ''
  #bold = false
  #heading = false
  /** The last character. It decides whether stars can begin or end bold text. */
  #before = ' '

  constructor(options: MarkdownOptions) {
    this.#options = options
    this.#wrap = new WordWrap(options.columns)
  }

  /** Adds input. Returns the output that is certain by now. */
  feed(text: string): string {
    this.#rest += sanitize(text).replaceAll('\t', '    ')
    while (this.#step(false));
    return this.#wrap.take()
  }

  /** Returns the rest of the output, because no more input comes. */
  end(): string {
    while (this.#step(true));
    this.#wrap.endWord()
    const ends = this.#fence !== undefined && !this.#atStart ? shut(this.#options.style.cyan) : this.#close()
    return this.#wrap.take() + ends
  }

  /** Returns the output so far, because other output follows. Later input continues the same text. */
  pause(): string {
    const out = this.end()
    this.#wrap.restart()
    // A continued line of code needs its colour again.
    if (this.#fence !== undefined) this.#atStart = true
    return out
  }

  #step(last: boolean): boolean {
    if (this.#rest === '') return false
    if (this.#atStart) return this.#begin(last)
    if (this.#fence !== undefined) return this.#codeLine()
    return this.#inline(last)
  }

  /** Decides the kind of a line by its beginning. */
  #begin(last: boolean): boolean {
    const { style, colour } = this.#options
    if (!last && undecided.test(this.#rest)) return false
    const [, indent = '', mark = ''] = starts.exec(this.#rest) ?? []
    if (/^(`{3}|~{3})/.test(mark)) {
      const line = /^.*(?=\n)/.exec(this.#rest)?.[0] ?? (last ? this.#rest : undefined)
      if (line === undefined) return false
      if (this.#fenceLine(line, mark)) return true
    }
    this.#atStart = false
    if (this.#fence !== undefined) {
      this.#wrap.lineStart('', false)
      this.#wrap.mark(open(style.cyan))
      return true
    }
    this.#rest = this.#rest.slice(indent.length + mark.length)
    this.#wrap.lineStart(indent, !mark.startsWith('|'))
    if (mark.startsWith('#')) this.#heading = true
    if (colour && this.#heading) this.#wrap.code(open(style.bold))
    else if (colour && /^[-*+] /.test(mark)) this.#wrap.hang(`${style.cyan('•')} `)
    else if (colour && mark.startsWith('>')) this.#wrap.hang(style.dim('│ '))
    else if (/^([-*+]|\d+[.)]) /.test(mark)) this.#wrap.hang(mark)
    else this.#wrap.mark(mark)
    this.#before = ' '
    return true
  }

  /** Renders the line if it begins or ends a code block. Returns whether it does. */
  #fenceLine(line: string, mark: string): boolean {
    const kind = mark.slice(0, 3)
    const ends = this.#fence !== undefined && kind === this.#fence && line.trim() === mark.trim()
    if (this.#fence !== undefined && !ends) return false
    this.#fence = ends ? undefined : kind
    this.#wrap.lineStart('', false)
    this.#wrap.mark(this.#options.style.dim(line))
    this.#rest = this.#rest.slice(line.length)
    if (this.#rest === '') this.#atStart = false
    else this.#newline('')
    return true
  }

  /** Writes the rest of a line of code, or its end. Code is not wrapped, so that it can be copied. */
  #codeLine(): boolean {
    if (this.#rest.startsWith('\n')) return this.#newline(shut(this.#options.style.cyan))
    const [line = ''] = this.#rest.split('\n', 1)
    const whole = withoutHalf(line)
    this.#wrap.mark(whole)
    this.#rest = this.#rest.slice(whole.length)
    return whole !== ''
  }

  #inline(last: boolean): boolean {
    const text = this.#rest
    const [first = ''] = text
    if (first === '\n') return this.#newline(this.#close())
    if (first === '`') {
      const [run = ''] = /^`+/.exec(text) ?? []
      if (run.length === text.length && !last) return false
      return this.#tick(run)
    }
    if (first === '*' && this.#code === '') {
      // The meaning depends on whether there are one or two stars, and on the character behind two stars. So the decision
      // waits for three characters.
      if (text.length < 3 && !last && !text.includes('\n')) return false
      if (text.startsWith('**') && this.#stars(text[2] ?? ' ')) return true
    }
    if (/^[\ud800-\udbff]$/.test(text) && !last) return false
    this.#rest = text.slice(first.length)
    this.#before = first
    this.#wrap.put(first)
    return true
  }

  #tick(run: string): boolean {
    const { style, colour } = this.#options
    const begins = this.#code === ''
    this.#rest = this.#rest.slice(run.length)
    this.#before = '`'
    if (!begins && run !== this.#code) return this.#literal(run)
    this.#code = begins ? run : ''
    if (!colour) return this.#literal(run)
    this.#wrap.code(begins ? open(style.cyan) : shut(style.cyan))
    return true
  }

  /** Two stars before a word begin bold text, two stars behind a word end it. The stars of `2 ** 3` do neither. */
  #stars(behind: string): boolean {
    const begins = !this.#bold && !/\s/.test(behind) && !/[\p{L}\p{N}]/u.test(this.#before)
    const ends = this.#bold && !/\s/.test(this.#before)
    if (!begins && !ends) return false
    this.#rest = this.#rest.slice(2)
    this.#before = begins ? ' ' : '*'
    this.#bold = begins
    const { style, colour } = this.#options
    if (!colour) return this.#literal('**')
    if (!this.#heading) this.#wrap.code(begins ? open(style.bold) : shut(style.bold))
    return true
  }

  #literal(text: string): true {
    for (const character of text) this.#wrap.put(character)
    return true
  }

  #newline(ends: string): true {
    this.#wrap.newline(ends)
    this.#rest = this.#rest.slice(1)
    this.#atStart = true
    return true
  }

  /** Ends all styles at the end of a line: one unmatched mark must not colour the rest of the answer. */
  #close(): string {
    const { style, colour } = this.#options
    const ends = !colour
      ? ''
      : (this.#bold || this.#heading ? shut(style.bold) : '') + (this.#code === '' ? '' : shut(style.cyan))
    this.#bold = this.#heading = false
    this.#code = ''
    return ends
  }
}

/** The marks that a line can begin with. */
const starts = /^( *)(#{1,6} +|`{3,}|~{3,}|[-*+] +|\d{1,9}[.)] +|> ?|\|)?/
/** The beginning of a line that may still become one of these marks. */
const undecided = /^ *(#{1,6} *|`{1,}|~{1,}|[-*+] *|\d{1,9}|\d{1,9}[.)] *|> *)?$/

function open(paint: (text: string) => string): string {
  return paint('\0').split('\0')[0] ?? ''
}

function shut(paint: (text: string) => string): string {
  return paint('\0').split('\0')[1] ?? ''
}

/** Removes a trailing high surrogate: its second half comes with the next input. */
function withoutHalf(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '')
}
