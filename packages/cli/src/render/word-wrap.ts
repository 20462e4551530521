import { widthOf } from './table.ts'

/** Breaks text between words, so that it fits the terminal. Continued lines have the indent of their first line. */
export class WordWrap {
  readonly #columns: () => number
  #out = ''
  /** The current, incomplete word, with its colour codes. */
  #word = ''
  #wordWidth = 0
  #spaces = 0
  #column = 0
  #indent = 0
  #wraps = true

  constructor(columns: () => number = () => Infinity) {
    this.#columns = columns
  }

  /** Returns the output since the last call. */
  take(): string {
    const out = this.#out
    this.#out = ''
    return out
  }

  lineStart(indent: string, wraps: boolean): void {
    this.#wraps = wraps
    this.#indent = indent.length
    this.#direct(indent)
  }

  /** Adds the mark of a list item. Continued lines of the item are indented to the right of the mark. */
  hang(sign: string): void {
    this.#direct(sign)
    this.#indent += widthOf(sign)
  }

  /** Adds text that is never broken. */
  mark(text: string): void {
    this.#direct(text)
  }

  /** Adds a colour code. It has no width and belongs to the current word. */
  code(sequence: string): void {
    this.#word += sequence
  }

  put(character: string): void {
    if (character === ' ') {
      this.endWord()
      this.#spaces++
      return
    }
    const width = widthOf(character)
    // Text in wide characters has no spaces, so a line may break after each wide character.
    if (width === 2) this.endWord()
    this.#word += character
    this.#wordWidth += width
    if (width === 2 || this.#wordWidth >= this.#room) this.endWord()
  }

  endWord(): void {
    if (this.#word === '') return
    if (this.#wordWidth > 0) {
      const fits = this.#column + this.#spaces + this.#wordWidth <= this.#columns()
      if (!fits && this.#wraps && this.#column > this.#indent) this.#break()
      else this.#direct(' '.repeat(this.#spaces))
      this.#spaces = 0
    }
    this.#out += this.#word
    this.#column += this.#wordWidth
    this.#word = ''
    this.#wordWidth = 0
  }

  /** Begins a new line. `ends` has the codes that switch off the styles of the old line. */
  newline(ends = ''): void {
    this.endWord()
    this.#out += `${ends}\n`
    this.#spaces = this.#column = this.#indent = 0
  }

  /** Continues at the left edge, because other output was written in between. */
  restart(): void {
    this.#spaces = this.#column = this.#indent = 0
  }

  /** The width of a line without its indent. A longer word is broken. */
  get #room(): number {
    return this.#wraps ? Math.max(1, this.#columns() - this.#indent) : Infinity
  }

  #break(): void {
    this.#out += `\n${' '.repeat(this.#indent)}`
    this.#column = this.#indent
  }

  #direct(text: string): void {
    this.#out += text
    this.#column += widthOf(text)
  }
}
