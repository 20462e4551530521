import type { Key } from '../terminal/keys.ts'
import { emptyLine, lineOf, pressLine, shownLine } from './line.ts'

/** The input line of `attach`, with a history that the arrow keys recall. */
export class LineEntry {
  #line = emptyLine
  #history: readonly string[] = []
  /** The number of steps back in the history. */
  #back = 0

  get empty(): boolean {
    return this.#line.text === ''
  }

  clear(): void {
    this.#line = emptyLine
    this.#back = 0
  }

  /** Applies a key. Returns the line if the key sent it. */
  press(key: Key): string | undefined {
    if (key.name === 'enter' || key.name === 'alt-enter') return this.#send()
    if (key.name === 'up' || key.name === 'down') this.#recall(key.name === 'up' ? 1 : -1)
    else this.#line = pressLine(this.#line, key) ?? this.#line
    return undefined
  }

  shown(columns: number): { readonly text: string; readonly column: number } {
    return shownLine(this.#line, columns)
  }

  #send(): string | undefined {
    const { text } = this.#line
    this.clear()
    if (text.trim() === '') return undefined
    this.#history = [...this.#history.filter((each) => each !== text), text].slice(-100)
    return text
  }

  #recall(by: number): void {
    this.#back = Math.min(Math.max(0, this.#back + by), this.#history.length)
    this.#line = lineOf(this.#back === 0 ? '' : (this.#history.at(-this.#back) ?? ''))
  }
}
