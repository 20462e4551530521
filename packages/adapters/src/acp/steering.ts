import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { AcpSession } from './acp-session.ts'
import type { AcpTurn } from './acp-turn.ts'
import { steers } from './process/connection.ts'
import { messageBlocks, textBlocks } from './prompt.ts'
import { refusalsIn } from './refusals.ts'
import type { Refusal } from './refusals.ts'
import type { TurnParts } from './turn-parts.ts'

/**
 * Gives an agent what users say while it works on a prompt: the steering messages of the chat, and the reasons of refusals.
 * What the agent does not take stays where it is: the message starts the next turn, and the next prompt has the reason.
 */
export class Steering {
  readonly #parts: TurnParts
  readonly #session: AcpSession
  readonly #turn: AcpTurn
  /** The message that was offered last. An edited message is another object. */
  #offered: PendingMessage | undefined
  readonly #offeredRefusals = new Set<string>()

  constructor(parts: TurnParts, session: AcpSession, turn: AcpTurn) {
    this.#parts = parts
    this.#session = session
    this.#turn = turn
  }

  /** Runs until the turn is over. Does nothing if the agent takes no messages while it works. */
  async run(): Promise<void> {
    const { chat } = this.#parts
    while (steers(this.#session.connection)) {
      try {
        await chat.when(() => this.#refusal() !== undefined || this.#message() !== undefined)
      } catch {
        return
      }
      await this.#offerNext()
    }
  }

  async #offerNext(): Promise<void> {
    const refusal = this.#refusal()
    if (refusal) return this.#offerRefusal(refusal)
    const message = this.#message()
    if (message) await this.#offerMessage(message)
  }

  async #offerRefusal({ id, text }: Refusal): Promise<void> {
    this.#offeredRefusals.add(id)
    if (await this.#session.steer(textBlocks(text))) this.#session.told.add(id)
  }

  async #offerMessage(pending: PendingMessage): Promise<void> {
    this.#offered = pending
    const { chat, output } = this.#parts
    const { promptCapabilities } = this.#session.connection.initialized.agentCapabilities ?? {}
    // An attachment that cannot be read is reported by the turn that the message starts.
    const blocks = await messageBlocks(pending.message, chat, promptCapabilities).catch(() => undefined)
    if (!blocks || !(await this.#session.steer(blocks))) return
    this.#turn.notify(pending.message.text, { _meta: { 'x-atrium': { steering: pending } } })
    // A message that was edited meanwhile is offered again.
    if (chat.state.steeringMessage === pending)
      output.write({ type: 'chat/pendingMessageRemoved', kind: 'steering', id: pending.id })
  }

  #refusal(): Refusal | undefined {
    const parts = this.#parts.chat.state.activeTurn?.responseParts ?? []
    return refusalsIn(parts, this.#session.told).find(({ id }) => !this.#offeredRefusals.has(id))
  }

  #message(): PendingMessage | undefined {
    const { steeringMessage } = this.#parts.chat.state
    return steeringMessage === this.#offered ? undefined : steeringMessage
  }
}
