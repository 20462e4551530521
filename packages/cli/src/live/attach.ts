import type { LinkStatus } from '@atrium/client/link/reconnect'
import type { Turn } from '@atrium/protocol/chat/state'
import { pathOf } from '@atrium/protocol/file-uri'
import { openAsks } from './requests.ts'
import { becomeOf } from './resolved.ts'
import type { Parts } from './follow.ts'
import { Happenings } from '../session/events.ts'
import { Interview } from './prompts.ts'
import type { Key } from '../terminal/keys.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { LineEntry } from '../render/entry.ts'
import { tickMs } from '../render/spinner.ts'
import { statusRow } from '../render/status.ts'
import { Narrator } from '../render/narrator.ts'
import { reasonOf, sayIn } from './send.ts'
import { shortName } from '../session/find.ts'
import { input } from './screen.ts'
import type { Input } from './screen.ts'
import { harmless } from '../terminal/output.ts'

/** Somebody at a terminal in a session: what happens goes up, and below it is a line to type in, or a question. */
export class Visit {
  readonly #parts: Parts
  readonly #happenings = new Happenings()
  readonly #narrator: Narrator
  readonly #interview: Interview
  /** What is known to be asked. */
  #asked: ReadonlySet<string> = new Set()
  readonly #input: Input
  readonly #entry = new LineEntry()
  readonly #undo: (() => void)[] = []
  /** Turns that were begun here: where the host is stopped in the middle of one, it is told to go on. */
  readonly #own = new Set<string>()
  #ticks: NodeJS.Timeout | undefined
  #soon: NodeJS.Immediate | undefined
  #link: LinkStatus
  /** A question waits because somebody wants to type something else first. */
  #aside = false
  #leaving = false
  #others = ''
  #end: (how: Exit | Problem) => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
    const { conversation, front } = parts
    const { pane, style, text } = front
    this.#link = conversation.client.link
    this.#narrator = new Narrator({ paper: pane, style, text, messages: true })
    this.#interview = new Interview({
      client: conversation.client,
      pane,
      style,
      become: (ask) => becomeOf(conversation.chat.confirmed, ask),
      changed: () => this.#draw(),
    })
    this.#input = input(
      pane,
      (key) => this.#press(key),
      (line) => (this.#interview.open ? this.#interview.line(line) : this.#submit(line, false)),
      () => this.#end(exits.ok),
    )
  }

  async done(): Promise<Exit> {
    const { conversation, turns, front } = this.#parts
    const { chat, client } = conversation
    const over = new Promise<Exit | Problem>((resolve) => (this.#end = resolve))
    if (chat.confirmed) this.#happenings.skip(chat.confirmed, turns)
    this.#greet()
    const resized = () => {
      front.pane.resized()
      this.#draw()
    }
    const interrupted = () => this.#interrupt()
    process.stdout.on('resize', resized)
    process.on('SIGINT', interrupted)
    this.#undo.push(
      conversation.onChange(() => this.#look()),
      client.onLink((status) => this.#linked(status)),
      () => process.stdout.off('resize', resized),
      () => process.off('SIGINT', interrupted),
    )
    this.#input.open()
    this.#look()
    const how = await over
    for (const undo of this.#undo) undo()
    clearInterval(this.#ticks)
    clearImmediate(this.#soon)
    this.#interview.close()
    this.#narrator.end()
    front.pane.show([])
    this.#input.close()
    if (how instanceof Problem) throw how
    return how
  }

  #greet(): void {
    const { conversation, front } = this.#parts
    const { session } = conversation
    const { title = '', provider = '', workingDirectories: [first] = [] } = session.confirmed ?? {}
    const folder = first === undefined ? undefined : pathOf(first)
    const where = folder?.ok ? ` in ${folder.path}` : ''
    const about = [`${shortName(session.uri)}`, `${provider}${where}`, title].map(harmless)
    front.pane.note(front.style.dim(about.filter((text) => text !== '').join(' · ')))
    front.pane.note(front.style.dim(help))
  }

  #look(): void {
    const { conversation } = this.#parts
    const { chat, session } = conversation
    if (conversation.gone) return this.#end(conversation.gone)
    if (!chat.confirmed || !session.confirmed) return
    // First what others have answered, then what came of it, then what is asked now: the text before it has been shown.
    const asks = openAsks(session.confirmed)
    this.#interview.update(asks.filter(({ id }) => this.#asked.has(id)))
    for (const happening of this.#happenings.see(chat.confirmed)) {
      this.#narrator.tell(happening)
      if (happening.kind === 'ended') this.#ended(happening.turn)
    }
    if (asks.some(({ id }) => !this.#asked.has(id))) this.#narrator.rest()
    this.#asked = new Set(asks.map(({ id }) => id))
    this.#interview.update(asks)
    this.#meet()
    if (!this.#interview.open) this.#aside = false
    clearInterval(this.#ticks)
    if (chat.confirmed.activeTurn) this.#ticks = setInterval(() => this.#draw(), tickMs)
    this.#draw()
  }

  #ended(turn: Turn): void {
    const last = turn.responseParts.at(-1)
    this.#leaving = false
    if (turn.state !== 'error' || last?.kind !== 'error' || !last.resumable) return
    if (last.error.errorType === 'interrupted' && this.#own.delete(turn.id))
      return void this.#parts.conversation.resume(turn.id)
    this.#parts.front.pane.note(this.#parts.front.style.dim('· /resume lets it go on'))
  }

  /** Who comes and goes. */
  #meet(): void {
    const { conversation, front } = this.#parts
    const names = (conversation.session.confirmed?.activeClients ?? []).flatMap(({ clientId, displayName }) =>
      clientId === conversation.client.clientId
        ? []
        : [harmless(displayName ?? 'somebody').replaceAll('\n', ' ')],
    )
    const others = names.join(', ')
    if (others === this.#others) return
    this.#others = others
    front.pane.note(front.style.dim(others === '' ? '· nobody else is here' : `· also here: ${others}`))
  }

  #press(key: Key): void {
    if (key.name === 'ctrl-c') return this.#interrupt()
    if (key.name === 'ctrl-z') return this.#input.suspend(() => this.#draw())
    if (key.name === 'ctrl-l') return this.#parts.front.pane.clear()
    const answering = this.#interview.open && !this.#aside && this.#entry.empty
    if (answering && this.#interview.armed) {
      if (key.name !== 'tab') return this.#interview.press(key)
      this.#aside = true
      return this.#draw()
    }
    // What is typed while a question appears is part of a line, and no answer.
    if (this.#interview.open && !this.#aside) this.#interview.disarm()
    if (key.name === 'tab') this.#aside = false
    if (key.name === 'ctrl-d' && this.#entry.empty) return this.#end(exits.ok)
    const line = this.#entry.press(key)
    if (line !== undefined) this.#submit(line, key.name === 'alt-enter')
    if (this.#entry.empty && key.name !== 'tab') this.#aside = false
    this.#draw()
  }

  #submit(text: string, queued: boolean): void {
    const { conversation, front } = this.#parts
    const [, command = '', rest = ''] = /^\/(\w+)\s*([^]*)$/.exec(text) ?? []
    this.#aside = false
    if (command === 'quit') return this.#end(exits.ok)
    if (command === 'cancel') return void this.#cancel()
    if (command === 'keys') return front.pane.note(front.style.dim(help))
    if (command === 'resume') {
      const last = conversation.chat.confirmed?.turns.at(-1)
      return this.#hear(
        last ? conversation.resume(last.id).then(reasonOf) : Promise.resolve('there is no turn'),
      )
    }
    const said = command === 'queue' ? rest : text
    if (said.trim() === '') return
    if (command === 'queue' || queued) return this.#hear(conversation.queue(said).then(reasonOf))
    this.#hear(sayIn(conversation, said, (turnId) => this.#own.add(turnId)))
  }

  #hear(said: Promise<string | undefined>): void {
    const { pane, style } = this.#parts.front
    void said.then((problem) => {
      if (problem !== undefined) pane.note(style.red(`✗ ${harmless(problem)}`))
    })
  }

  /** A line that was begun first, then the turn, then this command. */
  #interrupt(): void {
    const { pane, style } = this.#parts.front
    if (!this.#entry.empty) {
      this.#entry.clear()
      return this.#draw()
    }
    if (this.#leaving) return this.#end(exits.interrupted)
    this.#leaving = true
    if (!this.#cancel()) pane.note(style.dim('· once more leaves; so do Ctrl-D and /quit'))
  }

  #cancel(): boolean {
    const said = this.#parts.conversation.cancel()
    if (said) this.#hear(said.then(reasonOf))
    return said !== undefined
  }

  #linked(status: LinkStatus): void {
    const { pane, style } = this.#parts.front
    const was = this.#link.state
    this.#link = status
    if (status.state === 'closed')
      return this.#end(new Problem(`The host cannot be talked to any more: ${status.reason}`))
    if (was !== status.state)
      pane.note(style.yellow(status.state === 'live' ? '· the host is back' : '· the host is away'))
    this.#draw()
  }

  /** Once for all that came together. */
  #draw(): void {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined
      this.#show()
    })
  }

  #show(): void {
    const { pane, style } = this.#parts.front
    const answering = this.#interview.open && !this.#aside && this.#entry.empty
    if (this.#interview.open) this.#narrator.rest()
    if (answering) {
      const { rows, cursor } = this.#interview.rows(pane.columns)
      const status = [...rows, style.dim(`Tab types a message instead · ${this.#status()}`)]
      return pane.show(status, cursor)
    }
    const shown = this.#entry.shown(pane.columns - 2)
    const rows = [style.dim(this.#status()), `${style.cyan('›')} ${shown.text}`]
    pane.show(rows, { row: 1, column: 2 + shown.column })
  }

  #status(): string {
    const { chat } = this.#parts.conversation
    return statusRow({
      link: this.#link,
      ...(chat.confirmed && { chat: chat.confirmed }),
      asked: this.#interview.open && (this.#aside || !this.#entry.empty),
      others: this.#others,
    })
  }
}

const help = 'Enter sends or steers · Alt-Enter queues · Ctrl-C cancels · Ctrl-D leaves'
