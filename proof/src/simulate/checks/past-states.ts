import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { PastState, Unfinished } from '@atrium/protocol/root/past'
import { count } from '../tally.ts'
import type { RunContext } from './context.ts'
import { difference } from './difference.ts'
import { changeable } from '../../judge/rules.ts'
import { alike } from './reference-model.ts'

/** The states that clients had, by channel and sequence number. What the host says later about the past must agree. */
export class PastStates {
  readonly #states = new Map<Uri, Map<number, unknown>>()

  /** A client that sees a whole channel has this state after an action. */
  add(channel: Uri, seq: number, state: unknown): void {
    const states = this.#states.get(channel) ?? new Map<number, unknown>()
    this.#states.set(channel, states.set(seq, state))
  }

  /** The channels and numbers that a client can ask about. */
  get numbers(): readonly (readonly [Uri, number])[] {
    return [...this.#states].flatMap(([uri, states]) => [...states.keys()].map((seq) => [uri, seq] as const))
  }

  /** L22, L24: the answer has the state that clients had after the last action up to the number, or says why not. */
  check(context: RunContext, channel: Uri, seq: number, answer: PastState | Unfinished): void {
    const { model, fail } = context
    if ('unfinished' in answer) return
    const { snapshot, hidden, begins, older } = answer
    const said = `the state of ${channel} at ${seq}`
    const history = model.channels.get(channel)
    const stored = history?.entries.filter(({ at, fromHead }) => at !== undefined && !fromHead) ?? []
    if (!history) return fail('L22', `${said} is shown, but there is no such channel`)
    if (!snapshot) {
      count(`past states that are ${hidden ?? 'before the beginning'}`)
      const isCut = stored.some((entry) => entry.seq > seq && entry.action.type === 'chat/truncated')
      if (hidden === 'truncated' && !isCut) fail('L24', `${said} is hidden, but nothing was truncated`)
      if (hidden === undefined && seq >= begins) fail('L24', `${said} is not shown, without a reason`)
      return
    }
    const last = stored.findLast((entry) => entry.seq <= seq)?.seq ?? history.created.seq
    if (snapshot.fromSeq !== last) fail('L22', `${said} is that at ${snapshot.fromSeq}, and not at ${last}`)
    const had = this.#states.get(channel)?.get(last)
    if (had === undefined) return
    count('past states compared')
    const { kind } = history
    const [shown, expected] =
      kind.name === 'chat'
        ? [snapshot.state, asShown(had as ChatState, snapshot.state as ChatState)]
        : [snapshot.state, had]
    if (!alike(kind, shown, expected))
      fail(
        'L22',
        `${said} is not the one that a client had: ${difference(changeable(kind, shown), changeable(kind, expected))}`,
      )
    const all = kind.name === 'chat' ? (had as ChatState).turns.length : 0
    const some = kind.name === 'chat' ? (snapshot.state as ChatState).turns.length : 0
    if ((older !== undefined) !== some < all)
      fail('L22', `${said} has ${some} of ${all} turns, and older is ${older}`)
  }
}

/**
 * The state of a chat as answers about the past show it: without a draft, with the newest turns only, and without the content of
 * messages whose turns were truncated later (L24).
 */
function asShown(had: ChatState, shown: ChatState): object {
  const { draft: _, queuedMessages, steeringMessage, turns, ...rest } = had
  const taken = new Map(
    [...(shown.queuedMessages ?? []), ...(shown.steeringMessage ? [shown.steeringMessage] : [])].flatMap(
      (each) =>
        JSON.stringify(each.message._meta ?? {}).includes('truncated') ? [[each.id, each] as const] : [],
    ),
  )
  return {
    ...rest,
    turns: turns.slice(turns.length - shown.turns.length),
    ...(queuedMessages && { queuedMessages: queuedMessages.map((each) => taken.get(each.id) ?? each) }),
    ...(steeringMessage && { steeringMessage: taken.get(steeringMessage.id) ?? steeringMessage }),
  }
}
