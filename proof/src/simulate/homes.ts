import { equal } from '@atrium/host/log/equal'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import type { Truth } from './truth.ts'

type Fail = (invariant: string, problem: string) => void

/** Which session each chat is in, by what sessions say: exactly one, or it is being made and nobody knows of it. */
export class Homes {
  readonly #truth: Truth
  readonly #fail: Fail
  readonly #homes = new Map<Uri, Uri>()

  constructor(truth: Truth, fail: Fail) {
    this.#truth = truth
    this.#fail = fail
  }

  of(chat: Uri): Uri | undefined {
    return this.#homes.get(chat)
  }

  /** After a step that touched this session. Gives whether a chat has come there from another. */
  look(session: Uri): boolean {
    let came = false
    for (const { resource } of this.#session(session)?.chats ?? []) {
      const before = this.of(resource)
      this.#homes.set(resource, session)
      if (before === undefined) this.#begun(resource)
      came ||= before !== undefined && before !== session
    }
    return came
  }

  /** After a crash nothing is known but what the disk says. */
  forget(): void {
    this.#homes.clear()
    for (const uri of this.#truth.stories.keys())
      for (const { resource } of this.#session(uri)?.chats ?? []) this.#homes.set(resource, uri)
  }

  /** I20, and that every chat says truly whether it can be moved. */
  judge(): void {
    const listed = new Map<Uri, Uri>()
    for (const uri of this.#truth.stories.keys())
      for (const { resource } of this.#session(uri)?.chats ?? []) {
        const other = listed.get(resource)
        if (other !== undefined) this.#fail('I20', `${resource} is in ${other} and in ${uri}`)
        listed.set(resource, uri)
      }
    for (const [chat, home] of this.#homes) {
      if (this.#truth.living(chat) && !listed.has(chat))
        this.#fail('I20', `${chat} was in ${home}, and is in none`)
      else if (this.#truth.living(chat)) this.#movable(chat, listed.get(chat) ?? '')
    }
  }

  /** Everyone learns of a chat. A fork has what its source had when it was laid down. */
  #begun(chat: Uri): void {
    const story = this.#truth.living(chat)
    const { origin, turns = [] } = (this.#truth.stateAt(chat, Infinity) ?? {}) as Partial<ChatState>
    if (!story || origin?.kind !== 'fork') return
    const source = this.#truth.stateAt(origin.chat, story.born.seq) as ChatState | undefined
    const at = source?.turns.findIndex(({ id }) => id === origin.turnId) ?? -1
    if (at < 0 || !equal(turns, source?.turns.slice(0, at + 1)))
      this.#fail('I20', `${chat} does not begin with what ${origin.chat} had up to ${origin.turnId}`)
  }

  #movable(chat: Uri, home: Uri): void {
    const {
      movable = false,
      origin,
      activeTurn,
      queuedMessages,
    } = this.#truth.stateAt(chat, Infinity) as ChatState
    const stays = this.#session(home)?.defaultChat === chat || origin?.kind === 'tool'
    if (movable !== !(stays || activeTurn || queuedMessages))
      this.#fail('I18', `${chat} says that it can${movable ? '' : 'not'} be moved, which is not so`)
  }

  #session(uri: Uri): SessionState | undefined {
    const there = uri.startsWith('ahp-session:') && this.#truth.living(uri)
    return there ? (this.#truth.stateAt(uri, Infinity) as SessionState) : undefined
  }
}
