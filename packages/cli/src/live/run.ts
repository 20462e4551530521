import type { LinkStatus } from '@atrium/client/link/reconnect'
import type { Turn } from '@atrium/protocol/chat/state'
import { openAsks, unanswered } from './requests.ts'
import type { Ask } from './requests.ts'
import { becomeOf } from './resolved.ts'
import { Beforehand } from './preapproved.ts'
import type { Conversation } from '../session/conversation.ts'
import { Happenings } from '../session/events.ts'
import { Interview } from './prompts.ts'
import type { Key } from '../terminal/keys.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { documentOf } from '../render/document.ts'
import { Narrator } from '../render/narrator.ts'
import { shortName } from '../session/find.ts'
import { spinning, tickMs } from '../render/spinner.ts'
import { input } from './screen.ts'
import type { Input, Front } from './screen.ts'
import { harmless } from '../terminal/output.ts'
import type { Voice } from '../terminal/output.ts'

export interface ErrandOptions {
  readonly conversation: Conversation
  readonly turnId: string
  readonly voice: Voice
  readonly front: Front
  /** What was agreed to before anybody asked. */
  readonly allow?: 'once' | 'session'
}

/** A host that dies whenever a turn goes on is not helped by going on. */
const mostResumes = 5

/** One turn from its beginning to its end, for whoever began it here. */
export class Errand {
  readonly #options: ErrandOptions
  readonly #happenings = new Happenings()
  readonly #narrator: Narrator
  readonly #interview: Interview
  /** What is known to be asked. */
  #asked: ReadonlySet<string> = new Set()
  readonly #input: Input
  readonly #beforehand: Beforehand | undefined
  readonly #undo: (() => void)[] = []
  /** What a program was told of and is not answered. */
  #told: ReadonlySet<string> = new Set()
  #ticks: NodeJS.Timeout | undefined
  #interrupted = false
  #resumes = 0
  #away = false
  /** The time that it was given is over. */
  #late = false
  #end: (how: Exit | Problem) => void = () => {}

  constructor(options: ErrandOptions) {
    this.#options = options
    const { front, conversation, allow } = options
    this.#beforehand = allow && new Beforehand(conversation.client, allow, () => this.#look())
    const { pane, style, text } = front
    const paper = {
      text: (piece: string) => pane.text(piece),
      note: (line: string) => this.#note(line),
      fresh: () => pane.fresh(),
    }
    this.#narrator = new Narrator({ paper, style, text, messages: false })
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
      (line) => this.#interview.line(line),
    )
  }

  /** How the command exits; rejects with what keeps it from going on. */
  async done(): Promise<Exit> {
    const { conversation, voice } = this.#options
    const { client, chat } = conversation
    // What was there before is not part of this.
    if (chat.confirmed) this.#happenings.skip(chat.confirmed, 0)
    const over = new Promise<Exit | Problem>((resolve) => (this.#end = resolve))
    const resized = () => {
      this.#options.front.pane.resized()
      this.#draw()
    }
    process.stdout.on('resize', resized)
    this.#undo.push(
      conversation.onChange(() => this.#look()),
      client.onLink((status) => this.#linked(status)),
      () => process.stdout.off('resize', resized),
    )
    if (this.#options.front.pane.moves && !voice.json && !voice.quiet)
      this.#ticks = setInterval(() => this.#draw(), tickMs)
    this.#look()
    const how = await over
    this.#close()
    if (how instanceof Problem) throw how
    return how
  }

  #press(key: Key): void {
    if (key.name === 'ctrl-c') this.interrupt()
    else if (key.name === 'ctrl-z') this.#input.suspend(() => this.#draw())
    else this.#interview.press(key)
  }

  /** The first time the turn is cancelled; the second time nobody waits for that. */
  interrupt(): void {
    if (this.#interrupted) return this.#end(exits.interrupted)
    this.#interrupted = true
    const cancelled = this.#options.conversation.cancel()
    if (!cancelled) return this.#end(exits.interrupted)
    this.#note(this.#away ? '· the host is away; once more leaves the turn to itself' : '· cancelling')
  }

  /** It cannot go on. */
  fail(problem: Problem): void {
    this.#end(problem)
  }

  /** Too late: the turn is ended, if anybody hears that. */
  async expire(seconds: number): Promise<void> {
    const { conversation } = this.#options
    this.#late = true
    const patience = new Promise((resolve) => setTimeout(resolve, 2_000).unref())
    const said = await Promise.race([conversation.cancel(), patience])
    const ended = said === undefined ? 'it may still go on' : 'the turn was cancelled'
    this.#end(new Problem(`Not done after ${seconds} s: ${ended}; see ${this.#attach}`, exits.timeout))
  }

  #look(): void {
    const { conversation, turnId, voice } = this.#options
    const { chat, session } = conversation
    if (conversation.gone) return this.#end(conversation.gone)
    if (!chat.confirmed || !session.confirmed) return
    const mine = chat.confirmed.activeTurn?.id === turnId
    // First what others have answered, then what came of it, then what is asked now: the text before it has been shown.
    const asks = mine ? openAsks(session.confirmed, chat.uri) : []
    this.#ask(asks.filter(({ id }) => this.#asked.has(id)))
    for (const happening of this.#happenings.see(chat.confirmed)) {
      const about =
        'turn' in happening ? happening.turn.id : 'turnId' in happening ? happening.turnId : undefined
      if (about !== turnId) continue
      if (voice.json) voice.tell(documentOf(happening), () => '')
      else this.#narrator.tell(happening)
      if (happening.kind === 'ended') this.#ended(happening.turn)
    }
    if (asks.some(({ id }) => !this.#asked.has(id))) this.#narrator.rest()
    this.#asked = new Set(asks.map(({ id }) => id))
    this.#ask(asks)
    const { lifecycle, creationError } = session.confirmed
    if (lifecycle === 'failed')
      this.#end(
        new Problem(`The session could not be made: ${harmless(creationError?.message ?? 'no reason')}`),
      )
    this.#draw()
  }

  #ask(asks: readonly Ask[]): void {
    const { voice } = this.#options
    if (voice.json) this.#report(asks)
    const left = asks.filter((ask) => !this.#beforehand?.agrees(ask))
    if (voice.asks) return this.#interview.update(left)
    const [first] = left
    if (first) this.#end(unanswered(first, this.#options.conversation.session.uri))
  }

  #report(asks: readonly Ask[]): void {
    const { voice } = this.#options
    for (const ask of asks) if (!this.#told.has(ask.id)) voice.tell({ type: 'ask', ...ask }, () => '')
    for (const id of this.#told)
      if (!asks.some((ask) => ask.id === id)) voice.tell({ type: 'answered', id }, () => '')
    this.#told = new Set(asks.map(({ id }) => id))
  }

  #ended(turn: Turn): void {
    if (this.#late) return
    const last = turn.responseParts.at(-1)
    const broken = turn.state === 'error' && last?.kind === 'error' ? last : undefined
    if (
      broken?.resumable &&
      broken.error.errorType === 'interrupted' &&
      !this.#interrupted &&
      this.#resumes < mostResumes
    ) {
      this.#resumes++
      // Refused where somebody else was faster, and then it goes on as well.
      return void this.#options.conversation.resume(turn.id)
    }
    if (turn.state === 'error') return this.#end(exits.error)
    if (turn.state === 'cancelled') return this.#end(exits.interrupted)
    const denied = turn.responseParts.some(
      (part) =>
        part.kind === 'toolCall' && part.toolCall.status === 'cancelled' && part.toolCall.reason === 'denied',
    )
    this.#end(denied ? exits.denied : exits.ok)
  }

  #linked({ state, reason = '' }: LinkStatus): void {
    const { voice, front } = this.#options
    if (state === 'closed') return this.#end(new Problem(`The host cannot be talked to any more: ${reason}`))
    if (this.#away === (state !== 'live')) return
    this.#away = state !== 'live'
    if (voice.json) voice.tell({ type: 'link', state, ...(reason !== '' && { reason }) }, () => '')
    const said = this.#away ? '· the host is away; going on as soon as it is back' : '· the host is back'
    this.#note(front.style.yellow(said))
    this.#draw()
  }

  #note(line: string): void {
    const { voice, front } = this.#options
    if (!voice.json && !voice.quiet) front.pane.note(line)
  }

  #draw(): void {
    const { front, voice, conversation } = this.#options
    const { pane, style } = front
    if (voice.json) return
    if (this.#interview.open) {
      this.#narrator.rest()
      this.#input.open()
      const { rows, cursor } = this.#interview.rows(pane.columns)
      return pane.show(rows, cursor)
    }
    this.#input.close()
    const doing = this.#away ? 'waiting for the host' : (conversation.chat.confirmed?.activity ?? 'working')
    pane.show(
      this.#ticks
        ? [style.dim(spinning(harmless(doing), conversation.chat.confirmed?.activeTurn?.startedAt))]
        : [],
    )
  }

  #close(): void {
    for (const undo of this.#undo) undo()
    clearInterval(this.#ticks)
    this.#interview.close()
    this.#input.close()
    this.#narrator.end()
    this.#options.front.pane.show([])
  }

  get #attach(): string {
    return `it with: atrium attach ${shortName(this.#options.conversation.session.uri)}`
  }
}
