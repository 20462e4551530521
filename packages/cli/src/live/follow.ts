import { createInterface } from 'node:readline'
import type { LinkStatus } from '@atrium/client/link/reconnect'
import { openAsks, subjectOf } from './requests.ts'
import type { Conversation } from '../session/conversation.ts'
import { Happenings } from '../session/events.ts'
import { Problem, exits } from '../terminal/exit.ts'
import type { Exit } from '../terminal/exit.ts'
import { documentOf } from '../render/document.ts'
import { Narrator } from '../render/narrator.ts'
import { sayIn } from './send.ts'
import { shortName } from '../session/find.ts'
import type { Front } from './screen.ts'
import { harmless } from '../terminal/output.ts'
import type { Voice } from '../terminal/output.ts'

export interface Parts {
  readonly conversation: Conversation
  readonly voice: Voice
  readonly front: Front
  /** How many of the last turns are shown first. */
  readonly turns: number
}

/**
 * A chat as it happens, where nobody sits. Lines that come in are said there; when no more will come, it ends with the
 * turn that goes on, or at once.
 */
export class Follower {
  readonly #parts: Parts
  readonly #happenings = new Happenings()
  readonly #narrator: Narrator
  readonly #undo: (() => void)[] = []
  #told: ReadonlySet<string> = new Set()
  /** What was said here and is not in the chat yet. */
  #saying = 0
  #mute = false
  #away = false
  #end: (how: Exit | Problem) => void = () => {}

  constructor(parts: Parts) {
    this.#parts = parts
    const { pane, style, text } = parts.front
    const paper = {
      text: (piece: string) => pane.text(piece),
      note: (line: string) => this.#note(line),
      fresh: () => pane.fresh(),
    }
    this.#narrator = new Narrator({ paper, style, text, messages: true })
  }

  async done(): Promise<Exit> {
    const { conversation, turns } = this.#parts
    if (conversation.chat.confirmed) this.#happenings.skip(conversation.chat.confirmed, turns)
    const over = new Promise<Exit | Problem>((resolve) => (this.#end = resolve))
    const told = () => this.#end(exits.interrupted)
    process.on('SIGINT', told).on('SIGTERM', told)
    const lines = createInterface({ input: process.stdin, terminal: false })
    lines.on('line', (line) => void this.#say(line))
    lines.on('close', () => {
      this.#mute = true
      this.#look()
    })
    this.#undo.push(
      conversation.onChange(() => this.#look()),
      conversation.client.onLink((status) => this.#linked(status)),
    )
    this.#look()
    const how = await over
    for (const undo of this.#undo) undo()
    this.#narrator.end()
    if (how instanceof Problem) throw how
    return how
  }

  async #say(line: string): Promise<void> {
    if (line.trim() === '') return
    this.#saying++
    const problem = await sayIn(this.#parts.conversation, line)
    this.#saying--
    if (problem !== undefined) this.#note(`atrium: ${harmless(problem)}`)
    this.#look()
  }

  #look(): void {
    const { conversation, voice } = this.#parts
    const { chat, session } = conversation
    if (conversation.gone) return this.#end(conversation.gone)
    if (!chat.confirmed || !session.confirmed) return
    for (const happening of this.#happenings.see(chat.confirmed))
      if (voice.json) voice.tell(documentOf(happening), () => '')
      else this.#narrator.tell(happening)
    const asks = openAsks(session.confirmed)
    for (const ask of asks) {
      if (this.#told.has(ask.id)) continue
      if (voice.json) voice.tell({ type: 'ask', ...ask }, () => '')
      else
        this.#note(
          `? ${harmless(subjectOf(ask)).split('\n')[0]} (answer with: atrium attach ${shortName(session.uri)})`,
        )
    }
    for (const id of this.#told)
      if (voice.json && !asks.some((ask) => ask.id === id)) voice.tell({ type: 'answered', id }, () => '')
    this.#told = new Set(asks.map(({ id }) => id))
    const { activeTurn, queuedMessages } = chat.confirmed
    if (this.#mute && this.#saying === 0 && !activeTurn && !queuedMessages) this.#end(exits.ok)
  }

  #linked({ state, reason = '' }: LinkStatus): void {
    const { voice } = this.#parts
    if (state === 'closed') return this.#end(new Problem(`The host cannot be talked to any more: ${reason}`))
    if (this.#away === (state !== 'live')) return
    this.#away = state !== 'live'
    if (voice.json) voice.tell({ type: 'link', state, ...(reason !== '' && { reason }) }, () => '')
    this.#note(this.#away ? '· the host is away' : '· the host is back')
  }

  #note(line: string): void {
    const { voice, front } = this.#parts
    if (!voice.json && !voice.quiet) front.pane.note(line)
  }
}
