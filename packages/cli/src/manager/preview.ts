import type { Client } from '@atrium/client/client'
import type { HostedSession } from '@atrium/client/hosts'
import type { Subscription } from '@atrium/client/sync/handle'
import { takesSteering } from '@atrium/protocol/root/readiness'
import { primaryChat } from '@atrium/protocol/session/primary-chat'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { hardRows } from '../render/colour.ts'
import { Markdown } from '../render/markdown.ts'
import { Narrator } from '../render/narrator.ts'
import type { Rows } from '../render/question.ts'
import type { ScreenSize } from './frame.ts'
import { Prompts } from '../live/prompts.ts'
import { SessionEvents } from '../session/events.ts'
import { openRequests } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { resolutionOf } from '../session/resolution.ts'
import type { Key } from '../terminal/keys.ts'
import type { Style } from '../terminal/output.ts'

interface PreviewOptions {
  readonly client: Client
  readonly session: HostedSession
  readonly style: Style
  readonly coloured: boolean
  /** The rows and columns that it has on the screen. */
  readonly size: () => ScreenSize
  /** Called when its rows have changed. */
  readonly changed: () => void
}

/** The end of the chosen session's chat, live. If a tool call waits for an approval, the question is below it. */
export class Preview {
  readonly #options: PreviewOptions
  readonly #session: Subscription<'session'>
  readonly #events = new SessionEvents()
  readonly #narrator: Narrator
  readonly #prompts: Prompts
  #chat: Subscription<'chat'> | undefined
  #text = ''
  #requests: readonly Request[] = []
  #closed = false

  constructor(options: PreviewOptions) {
    this.#options = options
    const { client, session, style, coloured, size, changed } = options
    this.#session = client.subscribe('session', session.resource)
    const root = client.subscribe('root', rootUri)
    const columns = () => size().columns
    const markdown = () => new Markdown({ style, colour: coloured, columns })
    this.#narrator = new Narrator({
      sink: {
        text: (piece) => void (this.#text += piece),
        note: (line) => this.#note(line),
        endLine: () => this.#endLine(),
      },
      style,
      text: markdown,
      messages: true,
      takesSteering: () => takesSteering(root.state?.agents, session.provider),
    })
    const place = {
      moves: true,
      get columns() {
        return columns()
      },
      // The question leaves room for a status row, which the preview does not have.
      get height() {
        return size().rows + 1
      },
      note: (line: string) => this.#note(line),
    }
    this.#prompts = new Prompts({
      client,
      pane: place,
      style,
      resolution: (request) => resolutionOf(this.#chat?.confirmed, request),
      changed,
    })
    this.#session.onChange(() => this.#update())
    void this.#session.ready().then(
      () => this.#open(),
      () => {},
    )
  }

  /** Whether keys answer the question that is shown. */
  get asks(): boolean {
    return this.#prompts.armed
  }

  /** Whether the user types a line of the answer. */
  get types(): boolean {
    return this.#prompts.types
  }

  /** What waits for an answer that can only be given in the chat itself: a form, or a sign-in. */
  get waitsInChat(): boolean {
    return !this.#prompts.open && this.#requests.some(({ kind }) => kind !== 'toolConfirmation')
  }

  press(key: Key): void {
    this.#prompts.press(key)
  }

  /** The last rows of the chat that fit above the question. */
  rows(): Rows {
    const { size, style } = this.#options
    const { columns, rows: height } = size()
    const asked = this.#prompts.rows(columns)
    const below = this.waitsInChat
      ? [style.yellow('It waits for an answer: Enter opens it.')]
      : asked.rows.slice(0, height)
    const room = height - below.length
    // More rows than the screen has cannot be shown, and a long answer need not be wrapped whole.
    const lines = this.#text
      .slice(-200 * columns)
      .replace(/\n+$/, '')
      .split('\n')
      .slice(-height)
    const text = lines.flatMap((line) => hardRows(line, columns)).slice(room === 0 ? Infinity : -room)
    const rows = [...text, ...below]
    return asked.cursor
      ? { rows, cursor: { ...asked.cursor, row: text.length + asked.cursor.row } }
      : { rows }
  }

  close(): void {
    this.#closed = true
    this.#prompts.close()
    this.#session.release()
    this.#chat?.release()
  }

  #open(): void {
    if (this.#closed) return
    const { client, session } = this.#options
    const uri = primaryChat(this.#session.state ?? {}) ?? defaultChatUri(session.resource)
    const chat = client.subscribe('chat', uri, { view: { turns: 1 } })
    this.#chat = chat
    void chat.ready().then(
      (state) => {
        this.#events.skip(state, 1)
        chat.onChange(() => this.#update())
        this.#update()
      },
      () => {},
    )
  }

  #update(): void {
    const session = this.#session.confirmed
    const chat = this.#chat?.confirmed
    if (this.#closed || !session || !chat) return
    this.#requests = openRequests(session)
    const approvals = this.#requests.filter(({ kind }) => kind === 'toolConfirmation')
    for (const event of this.#events.update(chat)) this.#narrator.show(event)
    if (approvals.length > 0) this.#narrator.pause()
    this.#prompts.update(approvals)
    this.#options.changed()
  }

  #note(line: string): void {
    this.#endLine()
    this.#text += `${line}\n`
    // A session may run for days while somebody looks at it.
    if (this.#text.length > longestText) this.#text = this.#text.slice(-longestText / 2)
  }

  #endLine(): void {
    if (this.#text !== '' && !this.#text.endsWith('\n')) this.#text += '\n'
  }
}

const longestText = 200_000
