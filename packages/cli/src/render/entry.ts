import type { Key } from '../terminal/keys.ts'
import { emptyLine, lineOf, pressLine, shownLine } from './line.ts'

/** The line at the bottom: typed, sent, and found again with the arrows. */
export class LineEntry {
  #line = emptyLine
  #sent: readonly string[] = []
  /** How far back one has gone. */
  #back = 0

  get empty(): boolean {
    return this.#line.text === ''
  }

  clear(): void {
    this.#line = emptyLine
    this.#back = 0
  }

  /** The line that was sent by this key, if one was. */
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
    this.#sent = [...this.#sent.filter((each) => each !== text), text].slice(-100)
    return text
  }

  #recall(by: number): void {
    this.#back = Math.min(Math.max(0, this.#back + by), this.#sent.length)
    this.#line = lineOf(this.#back === 0 ? '' : (this.#sent.at(-this.#back) ?? ''))
  }
}
