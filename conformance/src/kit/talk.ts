import { randomUUID } from 'node:crypto'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { Skipped, fits, same, shown } from './check.ts'
import type { Client } from './client.ts'
import { fold } from './fold.ts'
import type { Kit } from './kit.ts'

/** An action of the chat, as far as it names a turn. */
interface Said extends Action {
  readonly turnId?: string
}

/** Harmless, short, and answered without any tool. */
export const promptText = 'Say hello in one short sentence.'

const ends: readonly string[] = ['chat/turnComplete', 'chat/turnCancelled', 'chat/error']

/** The default chat of a new session, with its session ready. */
export async function talkOf(kit: Kit): Promise<Talk> {
  const session = await kit.session()
  const client = await kit.join()
  const snapshot = await client.subscribe(session)
  const state = () => fold('session', snapshot, client.envelopes) as SessionState
  await client
    .until('the session to be created', () => state().lifecycle !== 'creating' || undefined)
    .catch(() => {
      throw new Skipped('the session was not created in time')
    })
  const { defaultChat, chats = [] } = state() as Partial<SessionState>
  const chat = defaultChat ?? chats[0]?.resource
  if (chat === undefined) throw new Skipped('a new session has no chat here')
  const start = await client.subscribe(chat)
  fits('a chat state', ChatState, start.state)
  return new Talk(kit, client, snapshot, start)
}

/** A chat and its session, as one client follows them. */
export class Talk {
  readonly client: Client
  readonly session: Uri
  readonly chat: Uri
  readonly start: Snapshot
  readonly #kit: Kit
  readonly #sessionStart: Snapshot

  constructor(kit: Kit, client: Client, session: Snapshot, start: Snapshot) {
    this.#kit = kit
    this.client = client
    this.#sessionStart = session
    this.session = session.resource
    this.chat = start.resource
    this.start = start
  }

  /** The chat as this client knows it by what it was told. */
  state(upTo?: number): ChatState {
    return fold('chat', this.start, this.client.envelopes, upTo) as ChatState
  }

  sessionState(): SessionState {
    return fold('session', this.#sessionStart, this.client.envelopes) as SessionState
  }

  /** What became true in the chat, in the order it was told. */
  said(): readonly (Envelope & { readonly action: Said })[] {
    return this.client.envelopes.filter(
      ({ channel, rejectionReason }) => channel === this.chat && !rejectionReason,
    )
  }

  /** The same chat by a client that comes now. */
  async joined(): Promise<Talk> {
    const client = await this.#kit.join()
    const session = await client.subscribe(this.session)
    return new Talk(this.#kit, client, session, await client.subscribe(this.chat))
  }

  /** The chat as somebody sees it who comes now. */
  async fresh(): Promise<ChatState> {
    return (await this.joined()).start.state as ChatState
  }

  /**
   * Something in the chat as somebody sees it who comes now, and as this client knows it: a state is changed by actions
   * alone, so that they are one.
   */
  async agreed<T>(what: string, pick: (state: ChatState) => T): Promise<T> {
    const late = await this.joined()
    // Numbers rise on a link: once this is here, all that the other's snapshot holds is here.
    await this.client.retitle(this.session)
    const found = pick(late.start.state as ChatState)
    same(`${what} in a snapshot`, pick(this.state(late.start.fromSeq)), found)
    return found
  }

  dispatch(action: Action): number {
    return this.client.dispatch(this.chat, action)
  }

  /** Dispatches a turn; one that asks for as little as a turn can, where nothing else is said. */
  prompt(turnId: string = randomUUID(), origin = 'user', text = promptText): string {
    const { model } = this.#kit.offer
    const message = {
      text,
      origin: { kind: origin },
      ...(model !== undefined && { model: { id: model } }),
    }
    this.dispatch({
      type: 'chat/turnStarted',
      turnId,
      startedAt: new Date().toISOString(),
      message,
    } as Action)
    return turnId
  }

  /** What became of wishes to begin a turn, whoever is said to have had them. */
  fates(turnId: string): readonly Envelope[] {
    return this.client.envelopes.filter(
      ({ channel, action }) =>
        channel === this.chat && action.type === 'chat/turnStarted' && (action as Said).turnId === turnId,
    )
  }

  fate(turnId: string, nth = 0): Promise<Envelope> {
    return this.client.until('the turn back, accepted or rejected', () => this.fates(turnId).at(nth))
  }

  /** A turn that runs, or has run already. */
  async begin(text?: string): Promise<string> {
    const turnId = this.prompt(undefined, undefined, text)
    await this.begun(turnId)
    return turnId
  }

  /** Waits for a turn that was wished. A host may have its reasons to begin none: an agent may want a login first. */
  async begun(turnId: string): Promise<void> {
    const { rejectionReason } = await this.fate(turnId)
    if (rejectionReason) throw new Skipped(`the host begins no turn: ${shown(rejectionReason)}`)
  }

  ends(turnId: string): readonly Envelope[] {
    return this.said().filter(({ action }) => ends.includes(action.type) && action.turnId === turnId)
  }

  /** Waits for the end of a turn. That none comes is the concern of one rule, and skips all others. */
  async ended(turnId: string): Promise<Envelope> {
    const { known } = this.#kit
    if (known.endless !== undefined) throw new Skipped(known.endless)
    return this.mustEnd(turnId).catch(() => {
      throw new Skipped(known.endless)
    })
  }

  async mustEnd(turnId: string): Promise<Envelope> {
    const { known, turnMs } = this.#kit
    return this.client
      .until('the turn to end', () => this.ends(turnId).at(0), turnMs)
      .catch((error: Error) => {
        known.endless = `a turn did not end: ${error.message}`
        throw error
      })
  }

  /** A turn from its beginning to its end. */
  async turn(): Promise<string> {
    const turnId = await this.begin()
    await this.ended(turnId)
    return turnId
  }
}
