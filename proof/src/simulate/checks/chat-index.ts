import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { ReferenceModel } from './reference-model.ts'

type Fail = (invariant: string, problem: string) => void

/**
 * The session of each chat, according to the chat lists of the sessions. A chat is in exactly one session, or in none while it
 * is being created.
 */
export class ChatIndex {
  readonly #model: ReferenceModel
  readonly #fail: Fail
  readonly #sessions = new Map<Uri, Uri>()

  constructor(model: ReferenceModel, fail: Fail) {
    this.#model = model
    this.#fail = fail
  }

  sessionOf(chat: Uri): Uri | undefined {
    return this.#sessions.get(chat)
  }

  /** Reads the chats of a session after a step. Returns whether one of them was in another session before. */
  update(session: Uri): boolean {
    let came = false
    for (const { resource } of this.#session(session)?.chats ?? []) {
      const before = this.sessionOf(resource)
      this.#sessions.set(resource, session)
      if (before === undefined) this.#checkFork(resource)
      came ||= before !== undefined && before !== session
    }
    return came
  }

  /** Rebuilds the index from the model after a crash. */
  rebuild(): void {
    this.#sessions.clear()
    for (const uri of this.#model.channels.keys())
      for (const { resource } of this.#session(uri)?.chats ?? []) this.#sessions.set(resource, uri)
  }

  /** Checks I20: every chat is in exactly one session. I18: its `movable` flag is right. */
  check(): void {
    const listed = new Map<Uri, Uri>()
    for (const uri of this.#model.channels.keys())
      for (const { resource } of this.#session(uri)?.chats ?? []) {
        const other = listed.get(resource)
        if (other !== undefined) this.#fail('I20', `${resource} is listed in ${other} and in ${uri}`)
        listed.set(resource, uri)
      }
    for (const [chat, owner] of this.#sessions) {
      if (this.#model.live(chat) && !listed.has(chat))
        this.#fail('I20', `${chat} was listed in ${owner}, and is in no session now`)
      else if (this.#model.live(chat)) this.#checkMovable(chat, listed.get(chat) ?? '')
    }
  }

  /** Checks a chat that has just become visible: a fork starts with the turns its source had when it was copied. */
  #checkFork(chat: Uri): void {
    const history = this.#model.live(chat)
    const { origin, turns = [] }: Partial<ChatState> = this.#model.chat(chat) ?? {}
    if (!history || origin?.kind !== 'fork') return
    const source = this.#model.chat(origin.chat, history.created.seq)
    const at = source?.turns.findIndex(({ id }) => id === origin.turnId) ?? -1
    if (at < 0 || !equal(turns, source?.turns.slice(0, at + 1)))
      this.#fail('I20', `${chat} does not begin with what ${origin.chat} had up to ${origin.turnId}`)
  }

  #checkMovable(chat: Uri, owner: Uri): void {
    const {
      movable = false,
      origin,
      activeTurn,
      queuedMessages,
    }: Partial<ChatState> = this.#model.chat(chat) ?? {}
    const stays = this.#session(owner)?.defaultChat === chat || origin?.kind === 'tool'
    if (movable !== !(stays || activeTurn || queuedMessages))
      this.#fail('I18', `${chat} wrongly says that it can${movable ? '' : 'not'} be moved`)
  }

  #session(uri: Uri): SessionState | undefined {
    return this.#model.live(uri) && this.#model.session(uri)
  }
}
