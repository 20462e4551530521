import type { Uri } from '@atrium/protocol/channel'
import { Outcomes } from '../../judge/outcomes.ts'
import type { RunContext } from './context.ts'
import type { Link } from '../link.ts'
import type { PendingAction } from './pending-action.ts'
import { isAppliedAfter, isWaiting } from './choices.ts'

/** The actions of one minimal client: pending, sent over its link, and answered. Checks the answers (I2, I5). */
export class SentActions {
  pending: PendingAction[] = []
  readonly #context: RunContext
  readonly #clientId: string
  /** Actions sent over this link without an answer, in the order sent. Answers come in this order. */
  #unanswered: PendingAction[] = []
  /** Every action sent over this link, answered or not. */
  #onLink = new Set<PendingAction>()
  /** Actions sent over an earlier link. Their answers may be lost, or come after the answers to newer actions. */
  #earlier = new Set<PendingAction>()
  readonly #outcomes = new Outcomes()

  /** For each sent action, the name that its channel had when the action was sent. */
  readonly #sentTo = new Map<PendingAction, Uri>()
  readonly #nameOf: (uri: Uri) => Uri

  constructor(context: RunContext, clientId: string, nameOf: (uri: Uri) => Uri) {
    this.#context = context
    this.#clientId = clientId
    this.#nameOf = nameOf
  }

  /** Whether the host answers an action: its channel exists, and has the name under which the action was sent. */
  reaches(action: PendingAction): boolean {
    const name = this.#nameOf(action.channel)
    return (
      this.#context.model.live(action.channel) !== undefined && (this.#sentTo.get(action) ?? name) === name
    )
  }

  get unanswered(): readonly PendingAction[] {
    return this.#unanswered
  }

  linkOpened(): void {
    this.#unanswered = []
    this.#earlier = new Set([...this.#earlier, ...this.#onLink])
    this.#onLink = new Set()
  }

  linkEnded(): void {
    this.#unanswered = []
  }

  /** Returns the pending actions that were not sent over this link. */
  unsent(): readonly PendingAction[] {
    return this.pending.filter((action) => !this.#onLink.has(action))
  }

  sent(action: PendingAction): void {
    this.#unanswered.push(action)
    this.#onLink.add(action)
    this.#sentTo.set(action, this.#nameOf(action.channel))
  }

  /** Removes an answered action. Answers must come in the order the actions were sent. */
  answered(answer: PendingAction, seq: number, { open, link }: Connection): void {
    const { clientSeq } = answer
    const problem = this.#outcomes.problem(clientSeq, seq)
    if (problem !== undefined) this.#context.fail('I5', `${this.#clientId}: ${problem}`)
    this.pending = this.pending.filter((each) => each.clientSeq !== clientSeq)
    const at = this.#unanswered.findIndex((each) => isAnsweredBy(each, answer))
    if (at < 0) return
    // The order is not checked in two cases. A replay may show an action before earlier ones are answered. An answer
    // without a number cannot be matched to one action.
    if (!open || clientSeq === 0) return void this.#unanswered.splice(at, 1)
    const before = this.#unanswered.slice(0, at)
    // The host does not answer an action on a channel that does not exist. After the host's death such a channel may
    // exist again, so the order is checked only while the host is alive.
    const alive = link?.hostListens === true
    const overtaken = before.find(
      (each) => !this.#earlier.has(each) && alive && this.reaches(each) && !this.#waited(each, seq),
    )
    if (overtaken)
      this.#context.fail(
        'I2',
        `${this.#clientId} received the answer to ${clientSeq} before the one to ${overtaken.clientSeq}`,
      )
    this.#unanswered = [
      ...before.filter((each) => this.#earlier.has(each) || this.#waited(each, seq)),
      ...this.#unanswered.slice(at + 1),
    ]
  }

  /** Whether a choice waited for the end of a turn, so that the answer to a later action came first (V9). */
  #waited(action: PendingAction, seq: number): boolean {
    return (
      isWaiting(this.#context.model, this.#clientId, action) ||
      isAppliedAfter(this.#context.model, this.#clientId, action, seq)
    )
  }
}

interface Connection {
  /** Whether the host has answered the handshake. */
  readonly open: boolean
  readonly link: Link | undefined
}

function isAnsweredBy(sent: PendingAction, answer: PendingAction): boolean {
  if (sent.clientSeq !== answer.clientSeq) return false
  if (sent.clientSeq > 0) return true
  return sent.channel === answer.channel && JSON.stringify(sent.action) === JSON.stringify(answer.action)
}
