import { randomUUID } from 'node:crypto'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { actionOf } from './action.ts'
import { Skipped, checkShape, excerpt, same } from './check.ts'
import type { Client } from './client.ts'
import { fold } from './fold.ts'
import type { Kit } from './kit.ts'
import { beginningWith } from './rule.ts'

/** An action of a chat. `turnId` is present if the action is about a turn. */
interface ChatAction extends Action {
  readonly turnId?: string
}

/** A harmless, short message that an agent answers without a tool. */
export const promptText = 'Say hello in one short sentence.'

const endTypes: readonly string[] = ['chat/turnComplete', 'chat/turnCancelled', 'chat/error']

/** Creates a session and opens its default chat. */
export async function openConversation(kit: Kit): Promise<Conversation> {
  return openChat(kit, await kit.session())
}

/** A test in a new chat. */
export const inConversation = beginningWith(openConversation)

/** Opens the default chat of a session with a new client, once the session is ready for a turn. */
export async function openChat(kit: Kit, session: Uri): Promise<Conversation> {
  const client = await kit.join()
  const snapshot = await client.subscribe(session)
  const state = () => fold('session', snapshot, client.envelopes)
  const isReady = () => kit.habits.readyAtFirstTurn || state().lifecycle !== 'creating' || undefined
  await client.until('the session to be created', isReady).catch(() => {
    throw new Skipped('the session was not created in time')
  })
  // The state is not checked here, so a required field may be missing.
  const { defaultChat, chats = [] } = state() as Partial<SessionState>
  const chat = defaultChat ?? chats[0]?.resource
  if (chat === undefined) throw new Skipped('a new session has no chat on this host')
  const start = await client.subscribe(chat)
  checkShape('a chat state', ChatState, start.state)
  return new Conversation(kit, client, snapshot, start)
}

/** A chat and its session, with one client subscribed to both. */
export class Conversation {
  readonly client: Client
  readonly session: Uri
  readonly chat: Uri
  /** The chat at the time of the subscription. */
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

  /** The chat state as this client has reduced it. Envelopes with a number above `upTo` are left out. */
  state(upTo?: number): ChatState {
    return fold('chat', this.start, this.client.envelopes, upTo)
  }

  startState(): ChatState {
    return fold('chat', this.start, [])
  }

  sessionState(): SessionState {
    return fold('session', this.#sessionStart, this.client.envelopes)
  }

  /** The accepted envelopes of the chat, in the order of arrival. */
  accepted(): readonly (Envelope & { readonly action: ChatAction })[] {
    return this.client.envelopes.filter(
      ({ channel, rejectionReason }) => channel === this.chat && !rejectionReason,
    )
  }

  /** Opens the same chat and session with a new client. */
  async withNewClient(): Promise<Conversation> {
    const client = await this.#kit.join()
    const session = await client.subscribe(this.session)
    return new Conversation(this.#kit, client, session, await client.subscribe(this.chat))
  }

  /** The chat state in a snapshot that a new client gets. */
  async freshState(): Promise<ChatState> {
    return (await this.withNewClient()).startState()
  }

  /**
   * Checks that this client and a new snapshot agree on a part of the chat state, because only actions may change a
   * state. `pick` selects the part. Returns the part.
   */
  async sameInSnapshot<T>(what: string, pick: (state: ChatState) => T): Promise<T> {
    const late = await this.withNewClient()
    // A host sends envelopes in the order of their numbers. The echo of the new title has a higher number than the
    // snapshot, so once the echo is here, the client has received every action that the snapshot contains.
    await this.client.retitle(this.session)
    const found = pick(late.startState())
    same(`${what} in a snapshot`, pick(this.state(late.start.fromSeq)), found)
    return found
  }

  dispatch(chatAction: Action): number {
    return this.client.dispatch(this.chat, chatAction)
  }

  mustAccept(chatAction: Action): Promise<Envelope> {
    return this.client.mustAccept(this.chat, chatAction)
  }

  mustReject(chatAction: Action): Promise<void> {
    return this.client.mustReject(this.chat, chatAction)
  }

  /** Dispatches the start of a turn without waiting for it. */
  dispatchTurn(turnId: string = randomUUID(), origin = 'user', text = promptText): string {
    const { model } = this.#kit.options
    const message = {
      text,
      origin: { kind: origin },
      ...(model !== undefined && { model: { id: model } }),
    }
    const startedAt = new Date().toISOString()
    this.dispatch(actionOf('chat/turnStarted', { turnId, startedAt, message }))
    return turnId
  }

  /** The echoes of `chat/turnStarted` for this turn, whichever client dispatched it, accepted or rejected. */
  turnOutcomes(turnId: string): readonly Envelope[] {
    return this.client.envelopes.filter(({ channel, action: { type, ...fields } }) => {
      const started: { turnId?: string } = fields
      return channel === this.chat && type === 'chat/turnStarted' && started.turnId === turnId
    })
  }

  turnOutcome(turnId: string, nth = 0): Promise<Envelope> {
    return this.client.until('the turn back, accepted or rejected', () => this.turnOutcomes(turnId).at(nth))
  }

  /** Starts a turn and waits until it is accepted. */
  async beginTurn(text?: string): Promise<string> {
    const turnId = this.dispatchTurn(undefined, undefined, text)
    await this.turnBegun(turnId)
    return turnId
  }

  /** Waits until a dispatched turn is accepted. A rejection skips the rule: the agent may need a login first. */
  async turnBegun(turnId: string): Promise<void> {
    const { rejectionReason } = await this.turnOutcome(turnId)
    if (rejectionReason) throw new Skipped(`the host starts no turn: ${excerpt(rejectionReason)}`)
  }

  turnEnds(turnId: string): readonly Envelope[] {
    return this.accepted().filter(({ action: end }) => endTypes.includes(end.type) && end.turnId === turnId)
  }

  /**
   * Waits for the end of a turn. If a turn does not end, only K121 fails; every other rule that waits for an end is
   * skipped.
   */
  async turnEnd(turnId: string): Promise<Envelope> {
    const { skips } = this.#kit
    if (skips.turnEnd !== undefined) throw new Skipped(skips.turnEnd)
    return this.requireTurnEnd(turnId).catch(() => {
      throw new Skipped(skips.turnEnd)
    })
  }

  async requireTurnEnd(turnId: string): Promise<Envelope> {
    const { skips, turnTimeoutMs } = this.#kit
    return this.client
      .until('the turn to end', () => this.turnEnds(turnId).at(0), turnTimeoutMs)
      .catch((error: Error) => {
        skips.turnEnd = `a turn did not end: ${error.message}`
        throw error
      })
  }

  /** Runs a turn from its start to its end. */
  async runTurn(text?: string): Promise<string> {
    const turnId = await this.beginTurn(text)
    await this.turnEnd(turnId)
    return turnId
  }
}
