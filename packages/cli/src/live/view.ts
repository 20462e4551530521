import type { LinkStatus } from '@atrium/client/link/reconnect'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { documentOf } from '../render/document.ts'
import { Narrator } from '../render/narrator.ts'
import type { Conversation } from '../session/conversation.ts'
import { SessionEvents } from '../session/events.ts'
import type { SessionEvent } from '../session/events.ts'
import type { Request } from '../session/pending-requests.ts'
import { CommandError } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import type { Output } from '../terminal/output.ts'
import type { Screen } from './screen.ts'
import { SpaceNotes } from './space-notes.ts'

export interface ViewOptions {
  readonly conversation: Conversation
  readonly output: Output
  readonly screen: Screen
  /** The number of earlier turns that are shown first. */
  readonly turns: number
  /** The notes about the host's disk that the command has shown before this view. */
  readonly space?: SpaceNotes
}

/**
 * A conversation that a command follows until it ends. This class turns changes of the session, the chat and the link
 * into output: JSON documents with `--json`, otherwise text and notes. A subclass decides what to show and when to end.
 */
export abstract class ConversationView {
  protected readonly conversation: Conversation
  protected readonly output: Output
  protected readonly screen: Screen
  protected readonly narrator: Narrator
  protected hostAway = false
  readonly #turns: number
  readonly #space: SpaceNotes
  readonly #events = new SessionEvents()
  readonly #cleanups: (() => void)[] = []
  /** The ids of requests with an `ask` document and no `answered` document yet. */
  #reported: ReadonlySet<string> = new Set()
  #finish: (how: Exit | CommandError) => void = () => {}
  readonly #finished = new Promise<Exit | CommandError>((resolve) => (this.#finish = resolve))

  /** `messages`: whether the messages of users are shown, too. */
  constructor({ conversation, output, screen, turns, space }: ViewOptions, messages: boolean) {
    this.conversation = conversation
    this.output = output
    this.screen = screen
    this.#turns = turns
    this.#space = space ?? new SpaceNotes(conversation.client)
    const { pane, style, text } = screen
    const sink = {
      text: (piece: string) => pane.text(piece),
      note: (line: string) => this.note(line),
      endLine: () => pane.endLine(),
    }
    this.narrator = new Narrator({
      sink,
      style,
      text,
      messages,
      takesSteering: () => conversation.takesSteering,
    })
  }

  /** Resolves with the exit code; rejects with the error that ends the command. */
  async done(): Promise<Exit> {
    const { chat, client } = this.conversation
    if (chat.confirmed) this.#events.skip(chat.confirmed, this.#turns)
    this.atEnd(
      this.conversation.onChange(() => this.refresh()),
      client.onLink((status) => this.linkChanged(status)),
    )
    this.opened()
    this.refresh()
    const how = await this.#finished
    for (const cleanup of this.#cleanups) cleanup()
    this.closed()
    if (how instanceof CommandError) throw how
    return how
  }

  /** Called once, before the first update. */
  protected abstract opened(): void

  /** Called after each change, with the confirmed states. */
  protected abstract update(session: SessionState, chat: ChatState): void

  /** Called once, after the end. */
  protected closed(): void {
    this.narrator.end()
  }

  /** Ends the command. Later calls have no effect. */
  protected finish(how: Exit | CommandError): void {
    this.#finish(how)
  }

  protected atEnd(...cleanups: readonly (() => void)[]): void {
    this.#cleanups.push(...cleanups)
  }

  protected refresh(): void {
    const { chat, session, gone } = this.conversation
    if (gone) return this.finish(gone)
    this.#noteSpace()
    if (chat.confirmed && session.confirmed) this.update(session.confirmed, chat.confirmed)
  }

  /** Returns the events since the last call. */
  protected newEvents(chat: ChatState): readonly SessionEvent[] {
    return this.#events.update(chat)
  }

  protected show(event: SessionEvent): void {
    if (this.output.json) this.output.printJson(documentOf(event))
    else this.narrator.show(event)
  }

  /** Prints `ask` and `answered` documents with `--json`. Returns the requests that were not open at the last call. */
  protected report(requests: readonly Request[]): readonly Request[] {
    const { output } = this
    const added = requests.filter(({ id }) => !this.#reported.has(id))
    for (const request of added) output.printJson({ type: 'ask', ...request })
    for (const id of this.#reported)
      if (!requests.some((request) => request.id === id)) output.printJson({ type: 'answered', id })
    this.#reported = new Set(requests.map(({ id }) => id))
    return added
  }

  protected linkChanged({ state, reason = '' }: LinkStatus): void {
    if (state === 'closed') return this.finish(new CommandError(`The link to the host was closed: ${reason}`))
    const away = state !== 'live'
    if (away === this.hostAway) return
    this.hostAway = away
    this.output.printJson({ type: 'link', state, ...(reason !== '' && { reason }) })
    this.note(this.linkNote(away))
  }

  #noteSpace(): void {
    const note = this.#space.next()
    if (!note) return
    this.output.printJson(note)
    this.note(this.screen.style.yellow(`· ${note.message}`))
  }

  protected linkNote(away: boolean): string {
    return away ? '· the host is away' : '· the host is back'
  }

  protected note(line: string): void {
    const { output, screen } = this
    if (!output.json && !output.quiet) screen.pane.note(line)
  }
}
