import type { Client } from '@atrium/client/client'
import type { Pane } from '../render/pane.ts'
import type { Answer, Question, Rows } from '../render/question.ts'
import { requestKeyOf } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { sentenceOf } from '../terminal/exit.ts'
import type { Key } from '../terminal/keys.ts'
import type { Style } from '../terminal/output.ts'
import { fingerprintOf, questionOf } from './requests.ts'
import { rejectionOf } from './send.ts'

/** Where a question is shown: lines go above the rows of its keys. */
type Place = Pick<Pane, 'moves' | 'columns' | 'height' | 'note'>

interface PromptsOptions {
  readonly client: Client
  readonly pane: Place
  readonly style: Style
  /** Returns the answer that another client gave to a request; undefined if it is not known. */
  readonly resolution: (request: Request) => string | undefined
  /** Called when the rows have changed. */
  readonly changed: () => void
}

interface Prompt {
  readonly request: Request
  readonly fingerprint: string
  question: Question
  /** Whether the keys of the prompt are shown when it is drawn next. */
  due: boolean
  /** Whether the keys of the prompt are shown, so that a key press answers it. */
  armed: boolean
}

/** How long keys do not answer a prompt after it has appeared, and after each key press. */
const armDelayMs = 300

/**
 * Asks the user for an answer to each open request, one after the other. A key press counts only after the prompt has
 * shown which keys there are, so that a key that was meant for something else approves nothing. A prompt disappears when
 * another client answers its request.
 */
export class Prompts {
  readonly #options: PromptsOptions
  /** The keys of the requests that were answered here and are still in the state of the session. */
  readonly #answered = new Set<string>()
  #requests: readonly Request[] = []
  #current: Prompt | undefined
  /** The id of the request whose question is being prepared. This takes time: its diff is read from the host. */
  #loading: string | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: PromptsOptions) {
    this.#options = options
  }

  /** Whether a prompt is open. */
  get open(): boolean {
    return this.#current !== undefined
  }

  /** Whether keys answer the open prompt. */
  get armed(): boolean {
    return this.#current?.armed === true
  }

  /** Whether the user types a line of the answer. */
  get types(): boolean {
    return this.#current?.question.types === true
  }

  /**
   * Takes the new list of open requests. Closes a prompt whose request is gone or has changed, and shows the next
   * one.
   */
  update(requests: readonly Request[]): void {
    this.#requests = requests
    for (const key of this.#answered)
      if (!requests.some((request) => requestKeyOf(request) === key)) this.#answered.delete(key)
    const current = this.#current
    const now = current && requests.find(({ id }) => id === current.request.id)
    if (current && (!now || fingerprintOf(now) !== current.fingerprint))
      this.#dismiss(current, now !== undefined)
    this.#next()
  }

  /**
   * Returns the rows that the caller draws now. Keys answer the prompt from the moment on in which they are drawn. A
   * key that is read before, for example because the machine is busy, was pressed by somebody who had not seen them.
   */
  rows(columns: number): Rows {
    const { style } = this.#options
    const current = this.#current
    if (!current) return { rows: [] }
    current.armed ||= current.due
    return current.armed ? current.question.rows(style, columns) : { rows: [style.dim('…')] }
  }

  press(key: Key): void {
    const current = this.#current
    if (!current) return
    if (!current.armed) return this.#armLater(current)
    const pressed = current.question.press(key)
    if (!pressed.next) return this.#answer(current, pressed.answer)
    if (pressed.more) return this.#showMore(current, pressed.next)
    if (pressed.draft) void this.#options.client.dispatch(current.request.chat, pressed.draft)
    if (current.question === pressed.next) return
    current.question = pressed.next
    if (pressed.anew) return this.disarm()
    this.#options.changed()
  }

  /** Handles a whole line of input, on a terminal that cannot give single keys. */
  line(text: string): void {
    const current = this.#current
    if (!current) return
    const [first = ''] = text.trim()
    if (!current.question.types) this.press({ name: 'text', text: first })
    else {
      // An empty line keeps the text that is already there.
      if (text !== '') this.press({ name: 'ctrl-u' })
      if (text !== '') this.press({ name: 'paste', text })
      this.press({ name: 'enter' })
    }
    if (this.#current === current) this.#print(current)
  }

  /** Ignores keys for a moment, because the user is typing something else, or has not seen the new rows yet. */
  disarm(): void {
    const current = this.#current
    if (!current || !this.#options.pane.moves) return
    current.armed = false
    this.#armLater(current)
    this.#options.changed()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#current = undefined
  }

  #next(): void {
    if (this.#current || this.#loading !== undefined) return
    const request = this.#requests.find((each) => !this.#answered.has(requestKeyOf(each)))
    if (!request) return
    const { client, style } = this.#options
    this.#loading = request.id
    void questionOf(client, request, style).then((question) => this.#show(request, question))
  }

  #show(request: Request, question: Question): void {
    const { pane, style, changed } = this.#options
    this.#loading = undefined
    const now = this.#requests.find(({ id }) => id === request.id)
    const fingerprint = fingerprintOf(request)
    // While the question was prepared, the request was answered or has changed.
    if (!now || fingerprintOf(now) !== fingerprint) return this.#next()
    const { lines, next } = question.more(style, pane)
    for (const line of lines) pane.note(line)
    this.#current = { request, fingerprint, question: next, due: false, armed: !pane.moves }
    if (pane.moves) this.#armLater(this.#current)
    else this.#print(this.#current)
    changed()
  }

  /** Prints the next lines of the question. A key that is pressed before they are on the screen answers nothing. */
  #showMore(current: Prompt, question: Question): void {
    const { pane, style } = this.#options
    const { lines, next } = question.more(style, pane)
    for (const line of lines) pane.note(line)
    current.question = next
    this.disarm()
  }

  #print({ question }: Prompt): void {
    const { pane, style } = this.#options
    for (const row of question.rows(style, pane.columns).rows) pane.note(row)
  }

  #armLater(prompt: Prompt): void {
    clearTimeout(this.#timer)
    prompt.due = false
    this.#timer = setTimeout(() => {
      prompt.due = true
      this.#options.changed()
    }, armDelayMs)
  }

  /** Removes the prompt, because the request was answered elsewhere or has changed. */
  #dismiss({ request }: Prompt, changed: boolean): void {
    const { pane, style, resolution } = this.#options
    clearTimeout(this.#timer)
    this.#current = undefined
    const how = resolution(request)
    // A call that ends with its turn is skipped: nobody has answered it.
    const end = how === undefined || how === 'skipped' ? 'no longer asked' : `answered elsewhere: ${how}`
    pane.note(style.dim(changed ? '  It asks for something else now:' : `  ${end}`))
    this.#options.changed()
  }

  #answer({ request }: Prompt, answer: Answer): void {
    clearTimeout(this.#timer)
    this.#current = undefined
    this.#answered.add(requestKeyOf(request))
    void this.#send(request, answer).then((reason) => {
      if (reason === undefined) return
      this.#options.pane.note(this.#options.style.yellow(`  The answer was not accepted: ${reason}`))
      this.#answered.delete(requestKeyOf(request))
      this.update(this.#requests)
    })
    this.#next()
    this.#options.changed()
  }

  /** Sends the answer. Returns why the host did not accept it, or undefined if it did. */
  async #send(request: Request, answer: Answer): Promise<string | undefined> {
    const { client } = this.#options
    if ('action' in answer) return rejectionOf(await client.dispatch(request.chat, answer.action))
    return client.ask('authenticate', answer.signIn).then(
      () => undefined,
      (error: unknown) => sentenceOf(error),
    )
  }
}
