import type { Emulator, Item, Size } from './emulator.ts'

export interface ScreenBounds {
  readonly screenLength: number
  readonly queries: number
}

/**
 * What one terminal shows, kept for the moment in which its program asks something: only then is it given to an emulator,
 * so that what nobody asks about costs nothing. Of more than a bound the oldest is forgotten: no screen is as large.
 */
export class Screen {
  readonly #emulator: Emulator
  readonly #bounds: ScreenBounds
  readonly #answer: (reply: string) => void
  readonly #id: number
  /** Before the first item. */
  #size: Size
  #items: Item[] = []
  #length = 0
  #asked = 0
  #answering = false
  #ended = false

  constructor(emulator: Emulator, size: Size, bounds: ScreenBounds, answer: (reply: string) => void) {
    this.#emulator = emulator
    this.#size = size
    this.#bounds = bounds
    this.#answer = answer
    this.#id = emulator.id()
  }

  show(text: string): void {
    this.#items.push(text)
    this.#length += text.length
    while (this.#length > this.#bounds.screenLength) this.#forget()
  }

  resize(cols: number, rows: number): void {
    if (typeof this.#items.at(-1) === 'object') this.#items.pop()
    else this.#length++
    this.#items.push({ cols, rows })
  }

  /** A program that asks faster than it can be answered is answered what it asked first. */
  ask(query: string): void {
    if (this.#ended || this.#asked >= this.#bounds.queries) return
    this.#asked++
    this.show(query)
    this.#feed()
  }

  end(): void {
    this.#ended = true
    this.#items = []
    this.#emulator.forget(this.#id)
  }

  #forget(): void {
    const item = this.#items.shift()
    if (typeof item === 'object') this.#size = item
    this.#length -= typeof item === 'string' ? item.length : 1
  }

  #feed(): void {
    if (this.#answering || this.#asked === 0) return
    this.#answering = true
    const items = joined(this.#items)
    const size = this.#size
    for (const item of items) if (typeof item === 'object') this.#size = item
    this.#items = []
    this.#length = this.#asked = 0
    this.#emulator.feed({ id: this.#id, size, items }, (reply) => {
      this.#answering = false
      if (this.#ended) return
      if (reply) this.#answer(reply)
      this.#feed()
    })
  }
}

/** An emulator takes its time between two texts. */
function joined(items: readonly Item[]): readonly Item[] {
  const all: Item[] = []
  let text: string[] = []
  const cut = () => {
    if (text.length > 0) all.push(text.join(''))
    text = []
  }
  for (const item of items)
    if (typeof item === 'string') text.push(item)
    else {
      cut()
      all.push(item)
    }
  cut()
  return all
}
