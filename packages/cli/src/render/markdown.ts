import { harmless } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { Flow } from './flow.ts'

export interface Look {
  readonly style: Style
  /** Without colours the marks are all that shows what is bold or code, so they stay. */
  readonly colour: boolean
  /** Of the terminal, asked again for every word because windows change; nothing where lines stay as they are. */
  readonly columns?: () => number
}

/**
 * Markdown as it comes, for a terminal. What was given out is never given out again: of what may still become something
 * else (the first characters of a line, a star, a word that may not fit) the decision is waited for, and of nothing else.
 * However the text is cut into pieces, the same comes out.
 */
export class Markdown {
  readonly #look: Look
  readonly #flow: Flow
  /** Read, and not yet decided. */
  #rest = ''
  #atStart = true
  /** The mark that ends the block of code one is in. */
  #fence: string | undefined
  /** The backticks that end the code one is in. */
  #code = ''
  #bold = false
  #heading = false
  /** The last character, which says whether a star can begin or end something. */
  #before = ' '

  constructor(look: Look) {
    this.#look = look
    this.#flow = new Flow(look.columns)
  }

  /** What can be shown now. */
  feed(text: string): string {
    this.#rest += harmless(text).replaceAll('\t', '    ')
    while (this.#step(false));
    return this.#flow.take()
  }

  /** Everything that was waited with: nothing more comes. */
  end(): string {
    while (this.#step(true));
    this.#flow.endWord()
    const ends = this.#fence !== undefined && !this.#atStart ? shut(this.#look.style.cyan) : this.#close()
    return this.#flow.take() + ends
  }

  /** Something else is said in between; what comes then belongs to what was begun. */
  pause(): string {
    const out = this.end()
    this.#flow.restart()
    // A line of code that goes on is given its colour again.
    if (this.#fence !== undefined) this.#atStart = true
    return out
  }

  #step(last: boolean): boolean {
    if (this.#rest === '') return false
    if (this.#atStart) return this.#begin(last)
    if (this.#fence !== undefined) return this.#codeLine()
    return this.#inline(last)
  }

  /** The beginning of a line says what it is. */
  #begin(last: boolean): boolean {
    const { style, colour } = this.#look
    if (!last && undecided.test(this.#rest)) return false
    const [, indent = '', mark = ''] = starts.exec(this.#rest) ?? []
    if (/^(`{3}|~{3})/.test(mark)) {
      const line = /^.*(?=\n)/.exec(this.#rest)?.[0] ?? (last ? this.#rest : undefined)
      if (line === undefined) return false
      if (this.#fenceLine(line, mark)) return true
    }
    this.#atStart = false
    if (this.#fence !== undefined) {
      this.#flow.lineStart('', false)
      this.#flow.mark(open(style.cyan))
      return true
    }
    this.#rest = this.#rest.slice(indent.length + mark.length)
    this.#flow.lineStart(indent, !mark.startsWith('|'))
    if (mark.startsWith('#')) this.#heading = true
    if (colour && this.#heading) this.#flow.code(open(style.bold))
    else if (colour && /^[-*+] /.test(mark)) this.#flow.hang(`${style.cyan('•')} `)
    else if (colour && mark.startsWith('>')) this.#flow.hang(style.dim('│ '))
    else if (/^([-*+]|\d+[.)]) /.test(mark)) this.#flow.hang(mark)
    else this.#flow.mark(mark)
    this.#before = ' '
    return true
  }

  /** Whether this line begins or ends a block of code. */
  #fenceLine(line: string, mark: string): boolean {
    const kind = mark.slice(0, 3)
    const ends = this.#fence !== undefined && kind === this.#fence && line.trim() === mark.trim()
    if (this.#fence !== undefined && !ends) return false
    this.#fence = ends ? undefined : kind
    this.#flow.lineStart('', false)
    this.#flow.mark(this.#look.style.dim(line))
    this.#rest = this.#rest.slice(line.length)
    if (this.#rest === '') this.#atStart = false
    else this.#newline('')
    return true
  }

  /** Code is as it is: a line of it that is broken could not be copied. */
  #codeLine(): boolean {
    if (this.#rest.startsWith('\n')) return this.#newline(shut(this.#look.style.cyan))
    const [line = ''] = this.#rest.split('\n', 1)
    const whole = withoutHalf(line)
    this.#flow.mark(whole)
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
      // Whether a second one follows, and what is behind both, decides.
      if (text.length < 3 && !last && !text.includes('\n')) return false
      if (text.startsWith('**') && this.#stars(text[2] ?? ' ')) return true
    }
    if (/^[\ud800-\udbff]$/.test(text) && !last) return false
    this.#rest = text.slice(first.length)
    this.#before = first
    this.#flow.put(first)
    return true
  }

  #tick(run: string): boolean {
    const { style, colour } = this.#look
    const begins = this.#code === ''
    this.#rest = this.#rest.slice(run.length)
    this.#before = '`'
    if (!begins && run !== this.#code) return this.#literal(run)
    this.#code = begins ? run : ''
    if (!colour) return this.#literal(run)
    this.#flow.code(begins ? open(style.cyan) : shut(style.cyan))
    return true
  }

  /** Two stars before a word begin bold, two behind one end it; `2 ** 3` is neither. */
  #stars(behind: string): boolean {
    const begins = !this.#bold && !/\s/.test(behind) && !/[\p{L}\p{N}]/u.test(this.#before)
    const ends = this.#bold && !/\s/.test(this.#before)
    if (!begins && !ends) return false
    this.#rest = this.#rest.slice(2)
    this.#before = begins ? ' ' : '*'
    this.#bold = begins
    const { style, colour } = this.#look
    if (!colour) return this.#literal('**')
    if (!this.#heading) this.#flow.code(begins ? open(style.bold) : shut(style.bold))
    return true
  }

  #literal(text: string): true {
    for (const character of text) this.#flow.put(character)
    return true
  }

  #newline(ends: string): true {
    this.#flow.newline(ends)
    this.#rest = this.#rest.slice(1)
    this.#atStart = true
    return true
  }

  /** What was left open ends with its line: a single mark must not colour the rest of the answer. */
  #close(): string {
    const { style, colour } = this.#look
    const ends = !colour
      ? ''
      : (this.#bold || this.#heading ? shut(style.bold) : '') + (this.#code === '' ? '' : shut(style.cyan))
    this.#bold = this.#heading = false
    this.#code = ''
    return ends
  }
}

/** What a line can begin with. */
const starts = /^( *)(#{1,6} +|`{3,}|~{3,}|[-*+] +|\d{1,9}[.)] +|> ?|\|)?/
/** It may still become one of these. */
const undecided = /^ *(#{1,6} *|`{1,}|~{1,}|[-*+] *|\d{1,9}|\d{1,9}[.)] *|> *)?$/

function open(paint: (text: string) => string): string {
  return paint('\0').split('\0')[0] ?? ''
}

function shut(paint: (text: string) => string): string {
  return paint('\0').split('\0')[1] ?? ''
}

/** Without the first half of a character whose second has not come. */
function withoutHalf(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '')
}
