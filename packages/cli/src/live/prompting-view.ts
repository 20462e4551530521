import type { LinkStatus } from '@atrium/client/link/reconnect'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { tickMs } from '../render/spinner.ts'
import type { SessionEvent } from '../session/events.ts'
import type { Request } from '../session/pending-requests.ts'
import { resolutionOf } from '../session/resolution.ts'
import type { Key } from '../terminal/keys.ts'
import { Prompts } from './prompts.ts'
import { openInput } from './screen.ts'
import type { Input } from './screen.ts'
import { ConversationView } from './view.ts'
import type { ViewOptions } from './view.ts'

/**
 * A view with a user at the terminal: it asks for answers to requests, reads keys, and redraws the rows below the text.
 */
export abstract class PromptingView extends ConversationView {
  protected readonly prompts: Prompts
  protected readonly input: Input
  /** The ids of the requests of the last update. */
  #open: ReadonlySet<string> = new Set()
  #ticks: NodeJS.Timeout | undefined
  #redraw: NodeJS.Immediate | undefined

  constructor(options: ViewOptions, messages: boolean) {
    super(options, messages)
    const { client, chat } = this.conversation
    const { pane, style } = this.screen
    this.prompts = new Prompts({
      client,
      pane,
      style,
      resolution: (request) => resolutionOf(chat.confirmed, request),
      changed: () => this.draw(),
    })
    this.input = openInput(pane, {
      key: (key) => this.press(key),
      line: (line) => this.line(line),
      end: () => this.inputEnded(),
    })
  }

  protected override opened(): void {
    const resized = () => {
      this.screen.pane.resized()
      this.draw()
    }
    process.stdout.on('resize', resized)
    this.atEnd(() => process.stdout.off('resize', resized))
  }

  protected override update(session: SessionState, chat: ChatState): void {
    const requests = this.requestsIn(session, chat)
    // The order matters. Prompts that other clients answered are closed first. Then the new events are shown. Then new
    // prompts open below these events.
    this.ask(requests.filter(({ id }) => this.#open.has(id)))
    for (const event of this.newEvents(chat)) this.event(event)
    if (requests.some(({ id }) => !this.#open.has(id))) this.narrator.pause()
    this.#open = new Set(requests.map(({ id }) => id))
    this.ask(requests)
    this.updated(session, chat)
    this.draw()
  }

  protected override closed(): void {
    clearInterval(this.#ticks)
    clearImmediate(this.#redraw)
    this.prompts.close()
    super.closed()
    this.screen.pane.show([])
    this.input.close()
  }

  protected override linkChanged(status: LinkStatus): void {
    super.linkChanged(status)
    this.draw()
  }

  protected override linkNote(away: boolean): string {
    return this.screen.style.yellow(super.linkNote(away))
  }

  /** Returns the requests that this view shows as prompts. */
  protected abstract requestsIn(session: SessionState, chat: ChatState): readonly Request[]

  protected ask(requests: readonly Request[]): void {
    this.prompts.update(requests)
  }

  protected abstract event(event: SessionEvent): void

  /** Called at the end of each update. */
  protected abstract updated(session: SessionState, chat: ChatState): void

  protected abstract press(key: Key): void

  /** Handles a line of input, on a terminal that cannot give single keys. */
  protected abstract line(text: string): void

  protected inputEnded(): void {}

  /** Draws the rows below the text. */
  protected abstract render(): void

  /** Schedules one `render` for all changes that come together. */
  protected draw(): void {
    this.#redraw ??= setImmediate(() => {
      this.#redraw = undefined
      this.render()
    })
  }

  /** Starts or stops the redraw at each frame of the spinner. */
  protected tick(on: boolean): void {
    if (on) this.#ticks ??= setInterval(() => this.draw(), tickMs)
    else {
      clearInterval(this.#ticks)
      this.#ticks = undefined
    }
  }
}
