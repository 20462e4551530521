import { widthOf } from './table.ts'

/** Lines of words on a terminal: what does not fit goes below, under the place where its line began. */
export class Flow {
  readonly #columns: () => number
  #out = ''
  /** A word that is not whole yet, with its colours. */
  #word = ''
  #wordWidth = 0
  #spaces = 0
  #column = 0
  #indent = 0
  #wraps = true

  constructor(columns: () => number = () => Infinity) {
    this.#columns = columns
  }

  /** What has been laid out since somebody last asked. */
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

  /** The sign of a list: what follows in other lines stands right of it. */
  hang(sign: string): void {
    this.#direct(sign)
    this.#indent += widthOf(sign)
  }

  /** As it is, and never broken. */
  mark(text: string): void {
    this.#direct(text)
  }

  /** A colour: it takes no room, and goes with what stands around it. */
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
    // Where letters are wide there are no spaces: a line may end behind each of them.
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

  /** `ends` closes what the line leaves open. */
  newline(ends = ''): void {
    this.endWord()
    this.#out += `${ends}\n`
    this.#spaces = this.#column = this.#indent = 0
  }

  /** Something else was written in between: what comes next stands at the edge. */
  restart(): void {
    this.#spaces = this.#column = this.#indent = 0
  }

  /** How long a word may be that stands alone in its line. */
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
