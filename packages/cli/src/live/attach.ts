import { heldMessages } from '@atrium/protocol/chat/queue'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import { pathOf } from '@atrium/protocol/file-uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { LineEntry } from '../render/entry.ts'
import { statusRow } from '../render/status.ts'
import type { SessionEvent } from '../session/events.ts'
import { shortName } from '../session/find.ts'
import { openRequests } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { exits } from '../terminal/exit.ts'
import type { Key } from '../terminal/keys.ts'
import { worktreeText } from '../session/worktree.ts'
import { sanitize } from '../terminal/output.ts'
import { attachHelp, helpLines } from './help.ts'
import { PromptingView } from './prompting-view.ts'
import { rejectionOf, sendLine } from './send.ts'
import type { ViewOptions } from './view.ts'

/** A session that a user follows and takes part in at a terminal. Below the text is an input line, or a prompt. */
export class AttachView extends PromptingView {
  readonly #entry = new LineEntry()
  /** Turns that were started here. If a restart of the host interrupts one, it is resumed. */
  readonly #ownTurns = new Set<string>()
  /** Whether the prompt is hidden, because the user wants to type a message first. */
  #promptHidden = false
  /** Whether Ctrl-C was pressed once. If so, the next Ctrl-C leaves the session. */
  #leaving = false
  /** The names of the other active clients. */
  #others = ''

  constructor(options: ViewOptions) {
    super(options, true)
  }

  protected override opened(): void {
    this.#greet()
    super.opened()
    const interrupted = () => this.#interrupt()
    process.on('SIGINT', interrupted)
    this.atEnd(() => process.off('SIGINT', interrupted))
    this.input.open()
  }

  #greet(): void {
    const { session } = this.conversation
    const { style } = this.screen
    const state: Partial<SessionState> = session.confirmed ?? {}
    const { title = '', provider = '', workingDirectories: [first] = [] } = state
    const folder = first === undefined ? undefined : pathOf(first)
    const where = folder?.ok ? ` in ${folder.path}` : ''
    const about = [`${shortName(session.uri)}`, `${provider}${where}`, worktreeText(state) ?? '', title].map(
      sanitize,
    )
    this.note(style.dim(about.filter((text) => text !== '').join(' · ')))
    this.note(style.dim(keys))
  }

  protected override requestsIn(session: SessionState): readonly Request[] {
    return openRequests(session)
  }

  protected override event(event: SessionEvent): void {
    this.show(event)
    if (event.kind === 'ended') this.#ended(event.turn)
  }

  protected override updated(session: SessionState, chat: ChatState): void {
    this.#showOthers(session)
    if (!this.prompts.open) this.#promptHidden = false
    this.tick(chat.activeTurn !== undefined)
  }

  #ended(turn: Turn): void {
    const last = turn.responseParts.at(-1)
    this.#leaving = false
    const { confirmed } = this.conversation.chat
    if (confirmed && heldMessages(confirmed).length > 0)
      this.note(this.screen.style.dim('· queued messages wait; /next starts them'))
    if (turn.state !== 'error' || last?.kind !== 'error' || !last.resumable) return
    if (last.error.errorType === 'interrupted' && this.#ownTurns.delete(turn.id))
      return void this.conversation.resume(turn.id)
    this.note(this.screen.style.dim('· /resume lets it go on'))
  }

  /** Notes when other clients join or leave. */
  #showOthers({ activeClients }: SessionState): void {
    const own = this.conversation.client.clientId
    const names = activeClients
      .filter(({ clientId }) => clientId !== own)
      .map(({ displayName }) => sanitize(displayName ?? 'somebody').replaceAll('\n', ' '))
    const others = names.join(', ')
    if (others === this.#others) return
    this.#others = others
    this.note(this.screen.style.dim(others === '' ? '· nobody else is here' : `· also here: ${others}`))
  }

  protected override press(key: Key): void {
    if (key.name === 'ctrl-c') return this.#interrupt()
    if (key.name === 'ctrl-z') return this.input.suspend(() => this.draw())
    if (key.name === 'ctrl-l') return this.screen.pane.clear()
    if (this.#prompting && this.prompts.armed) {
      if (key.name !== 'tab') return this.prompts.press(key)
      this.#promptHidden = true
      return this.draw()
    }
    // A key that was pressed while a prompt appeared belongs to the input line, and must not answer the prompt.
    if (this.prompts.open && !this.#promptHidden) this.prompts.disarm()
    if (key.name === 'tab') this.#promptHidden = false
    if (key.name === 'ctrl-d' && this.#entry.empty) return this.finish(exits.ok)
    const line = this.#entry.press(key)
    if (line !== undefined) this.#submit(line, key.name === 'alt-enter')
    if (this.#entry.empty && key.name !== 'tab') this.#promptHidden = false
    this.draw()
  }

  protected override line(text: string): void {
    if (this.prompts.open) this.prompts.line(text)
    else this.#submit(text, false)
  }

  protected override inputEnded(): void {
    this.finish(exits.ok)
  }

  #submit(text: string, queued: boolean): void {
    const [, command = '', rest = ''] = /^\/(\w+)\s*([^]*)$/.exec(text) ?? []
    this.#promptHidden = false
    const known = Object.hasOwn(this.#commands, command) ? this.#commands[command] : undefined
    if (known) return known(rest)
    if (text.trim() === '') return
    if (queued) return this.#queue(text)
    this.#noteRejection(sendLine(this.conversation, text, (turnId) => this.#ownTurns.add(turnId)))
  }

  /** The commands of the input line. Any other line is a message: an agent may have commands of its own. */
  readonly #commands: { readonly [name: string]: (rest: string) => void } = {
    queue: (rest) => {
      if (rest.trim() !== '') this.#queue(rest)
    },
    next: () => {
      const started = this.conversation.startNext()?.then(rejectionOf)
      this.#noteRejection(started ?? Promise.resolve('no message is queued'))
    },
    resume: () => {
      const last = this.conversation.chat.confirmed?.turns.at(-1)
      const resumed = last && this.conversation.resume(last.id).then(rejectionOf)
      this.#noteRejection(resumed ?? Promise.resolve('there is no turn'))
    },
    cancel: () => {
      if (!this.#cancel()) this.note(this.screen.style.dim('· no turn is active'))
    },
    help: () => {
      for (const line of helpLines(attachHelp, this.screen.pane.columns))
        this.note(this.screen.style.dim(line))
    },
    quit: () => this.finish(exits.ok),
  }

  #queue(text: string): void {
    this.#noteRejection(this.conversation.queue(text).then(rejectionOf))
  }

  #noteRejection(result: Promise<string | undefined>): void {
    void result.then((reason) => {
      if (reason !== undefined) this.note(this.screen.style.red(`✗ ${sanitize(reason)}`))
    })
  }

  /**
   * Ctrl-C clears the input line. If the line is empty, the first Ctrl-C cancels the turn and the second one leaves the
   * session.
   */
  #interrupt(): void {
    if (!this.#entry.empty) {
      this.#entry.clear()
      return this.draw()
    }
    if (this.#leaving) return this.finish(exits.interrupted)
    this.#leaving = true
    if (!this.#cancel()) this.note(this.screen.style.dim('· once more leaves; so do Ctrl-D and /quit'))
  }

  /** Cancels the active turn. Returns whether there was one. */
  #cancel(): boolean {
    const result = this.conversation.cancel()
    if (result) this.#noteRejection(result.then(rejectionOf))
    return result !== undefined
  }

  protected override render(): void {
    const { pane, style } = this.screen
    if (this.prompts.open) this.narrator.pause()
    if (this.#prompting) {
      const { rows, cursor } = this.prompts.rows(pane.columns)
      const status = [...rows, style.dim(`Tab types a message instead · ${this.#status()}`)]
      return pane.show(status, cursor)
    }
    const shown = this.#entry.shown(pane.columns - 2)
    const rows = [style.dim(this.#status()), `${style.cyan('›')} ${shown.text}`]
    pane.show(rows, { row: 1, column: 2 + shown.column })
  }

  /** Whether the prompt is shown instead of the input line. */
  get #prompting(): boolean {
    return this.prompts.open && !this.#promptHidden && this.#entry.empty
  }

  #status(): string {
    const { chat, client } = this.conversation
    return statusRow({
      link: client.link,
      ...(chat.confirmed && { chat: chat.confirmed }),
      promptHidden: this.prompts.open && (this.#promptHidden || !this.#entry.empty),
      others: this.#others,
    })
  }

  /** Notes are part of this view, so `--quiet` does not hide them. */
  protected override note(line: string): void {
    this.screen.pane.note(line)
  }
}

const keys = 'Enter sends or steers · Alt-Enter queues · Ctrl-C cancels · Ctrl-D leaves · /help'
