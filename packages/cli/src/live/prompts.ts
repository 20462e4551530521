import type { Client } from '@atrium/client/client'
import { markOf, questionOf } from './requests.ts'
import type { Ask } from './requests.ts'
import type { Key } from '../terminal/keys.ts'
import { sentenceOf } from '../terminal/exit.ts'
import type { Answer, Question, Rows } from '../render/ask.ts'
import type { Pane } from '../render/pane.ts'
import type { Style } from '../terminal/output.ts'

interface Surroundings {
  readonly client: Client
  readonly pane: Pane
  readonly style: Style
  /** How a question was answered that others answered, where that is known. */
  readonly become: (ask: Ask) => string | undefined
  /** What is shown has changed. */
  readonly changed: () => void
}

interface Current {
  readonly ask: Ask
  readonly mark: string
  question: Question
  /** Its keys are shown, and count. */
  armed: boolean
}

/** For so long after a question appeared, or after a key, nothing that is pressed was meant as its answer. */
const quietMs = 300

/**
 * Puts one question after the other to whoever sits at the terminal. A key counts once the keys are shown, so that what
 * was typed for something else agrees to nothing. What others answer meanwhile goes away.
 */
export class Interview {
  readonly #around: Surroundings
  /** Answered here, and not yet gone. */
  readonly #answered = new Set<string>()
  #asks: readonly Ask[] = []
  #current: Current | undefined
  /** The one that is being read from the host. */
  #loading: string | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** Whether somebody is being asked. */
  get open(): boolean {
    return this.#current !== undefined
  }

  /** Whether keys are its own: not before they are shown. */
  get armed(): boolean {
    return this.#current?.armed === true
  }

  update(asks: readonly Ask[]): void {
    this.#asks = asks
    for (const id of this.#answered) if (!asks.some((ask) => ask.id === id)) this.#answered.delete(id)
    const current = this.#current
    const now = current && asks.find(({ id }) => id === current.ask.id)
    if (current && (!now || markOf(now) !== current.mark)) this.#gone(current, now !== undefined)
    this.#next()
  }

  rows(columns: number): Rows {
    const { style } = this.#around
    if (!this.#current) return { rows: [] }
    return this.#current.armed ? this.#current.question.rows(style, columns) : { rows: [style.dim('…')] }
  }

  press(key: Key): void {
    const current = this.#current
    if (!current) return
    if (!current.armed) return this.#wait(current)
    const pressed = current.question.press(key)
    if (!pressed.next) return this.#answer(current, pressed.answer)
    if (pressed.draft) void this.#around.client.dispatch(current.ask.chat, pressed.draft)
    if (current.question === pressed.next) return
    current.question = pressed.next
    this.#around.changed()
  }

  /** A whole line, on a terminal that gives no single keys. */
  line(text: string): void {
    const current = this.#current
    if (!current) return
    const [first = ''] = text.trim()
    if (!current.question.types) this.press({ name: 'text', text: first })
    else {
      // What stands there already is kept by an empty line.
      if (text !== '') this.press({ name: 'ctrl-u' })
      if (text !== '') this.press({ name: 'paste', text })
      this.press({ name: 'enter' })
    }
    if (this.#current === current) this.#print(current)
  }

  /** Somebody types something else: the question waits until that is over. */
  disarm(): void {
    const current = this.#current
    if (!current) return
    current.armed = false
    this.#wait(current)
    this.#around.changed()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#current = undefined
  }

  #next(): void {
    if (this.#current || this.#loading !== undefined) return
    const ask = this.#asks.find(({ id }) => !this.#answered.has(id))
    if (!ask) return
    const { client, style } = this.#around
    this.#loading = ask.id
    void questionOf(client, ask, style).then((question) => this.#put(ask, question))
  }

  #put(ask: Ask, question: Question): void {
    const { pane, style, changed } = this.#around
    this.#loading = undefined
    const now = this.#asks.find(({ id }) => id === ask.id)
    // Answered, or changed, while it was being read.
    if (!now || markOf(now) !== markOf(ask)) return this.#next()
    for (const line of question.head(style)) pane.note(line)
    this.#current = { ask, mark: markOf(ask), question, armed: !pane.moves }
    if (pane.moves) this.#wait(this.#current)
    else this.#print(this.#current)
    changed()
  }

  #print({ question }: Current): void {
    const { pane, style } = this.#around
    for (const row of question.rows(style, pane.columns).rows) pane.note(row)
  }

  #wait(current: Current): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      current.armed = true
      this.#around.changed()
    }, quietMs)
  }

  #gone(current: Current, changed: boolean): void {
    const { pane, style, become } = this.#around
    clearTimeout(this.#timer)
    this.#current = undefined
    const how = become(current.ask)
    pane.note(
      style.dim(
        changed
          ? '  It asks for something else now:'
          : `  answered elsewhere${how === undefined ? '' : `: ${how}`}`,
      ),
    )
    this.#around.changed()
  }

  #answer({ ask }: Current, answer: Answer): void {
    clearTimeout(this.#timer)
    this.#current = undefined
    this.#answered.add(ask.id)
    void this.#send(ask, answer).then((problem) => {
      if (problem === undefined) return
      this.#around.pane.note(this.#around.style.yellow(`  That was not taken: ${problem}`))
      this.#answered.delete(ask.id)
      this.update(this.#asks)
    })
    this.#next()
    this.#around.changed()
  }

  /** Why it was not taken, if it was not. */
  async #send(ask: Ask, answer: Answer): Promise<string | undefined> {
    const { client } = this.#around
    if ('say' in answer) {
      const said = await client.dispatch(ask.chat, answer.say)
      return said.outcome === 'accepted' ? undefined : said.reason
    }
    return client.ask('authenticate', answer.signIn).then(
      () => undefined,
      (error: unknown) => sentenceOf(error),
    )
  }
}
