import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Simulation } from '../simulate/simulation.ts'

/** An action that an app dispatched, and the outcome that its client reported. */
interface Dispatch {
  /** Undefined if the client itself refused the action. */
  readonly clientSeq: number | undefined
  readonly channel: Uri
  readonly text: string
  outcome?: Outcome
  /** The log entry that the host's answer named, and how often a backup had been restored by then. */
  logged?: { readonly channel: Uri; readonly seq: number; readonly restored: number }
}

/** An answer of the host to an action. */
interface Answer {
  readonly seq: number
  readonly reason: string | undefined
}

const already = /^already accepted as (\d+)$/

/** Records the actions of one client: dispatched, sent, answered by the host, and reported to the app. Checks that these agree. */
export class DispatchLedger {
  readonly #sim: Simulation
  readonly #id: string
  readonly #dispatches: Dispatch[] = []
  readonly #answers = new Map<number, Answer[]>()
  /** Channels that the host has called missing or refused to show. */
  readonly denied = new Set<Uri>()
  /** Actions sent over a link that has ended. */
  readonly #cut = new Set<number>()
  #sent: number[] = []
  closed = false

  constructor(sim: Simulation, id: string) {
    this.#sim = sim
    this.#id = id
  }

  /** Number of actions by outcome. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { outcome } of this.#dispatches) {
      const how = outcome?.outcome ?? 'pending'
      counts[how] = (counts[how] ?? 0) + 1
    }
    return counts
  }

  dispatched(
    clientSeq: number | undefined,
    channel: Uri,
    action: Action,
    outcome: Promise<Outcome>,
  ): Promise<void> {
    const dispatch: Dispatch = {
      clientSeq,
      channel,
      text: clientSeq === undefined ? '' : JSON.stringify(action),
    }
    this.#dispatches.push(dispatch)
    return outcome.then((end) => this.#ended(dispatch, end))
  }

  /**
   * Records that an action is sent. Checks U2 and U4: over one link each action is sent once, in dispatch order,
   * unchanged, and not after its outcome is known.
   */
  sent(clientSeq: number, channel: Uri, action: Action): void {
    const dispatch = this.#dispatches.find((each) => each.clientSeq === clientSeq)
    const last = this.#sent.at(-1) ?? 0
    if (dispatch && (dispatch.channel !== channel || dispatch.text !== JSON.stringify(action)))
      this.#fail('U4', `sends as ${clientSeq} another action than was dispatched`)
    if (!dispatch && clientSeq <= (this.#dispatches.findLast(numbered)?.clientSeq ?? 0))
      this.#fail('U4', `sends ${clientSeq}, which was not dispatched`)
    if (this.#sim.plan.foreignHost && this.#cut.has(clientSeq))
      this.#fail('U4', `resends ${clientSeq} to a host that may apply it twice`)
    if (dispatch?.outcome) this.#fail('U1', `resends ${clientSeq}, whose outcome is known`)
    if (clientSeq <= last) this.#fail('U2', `sends ${clientSeq} after ${last}`)
    this.#sent.push(clientSeq)
  }

  /** Records the end of a link. */
  cut(): void {
    for (const clientSeq of this.#sent) this.#cut.add(clientSeq)
    this.#sent = []
  }

  /** Records an answer at the moment the host sends it. The log entry that the answer names exists by then, and must stay. */
  answerSent({ channel, serverSeq, origin, rejectionReason }: Envelope): void {
    const dispatch = this.#dispatches.find(({ clientSeq }) => clientSeq === origin?.clientSeq)
    const seq = rejectionReason === undefined ? serverSeq : Number(already.exec(rejectionReason)?.[1])
    const { model, restored } = this.#sim
    const entry = model.entry(channel, seq)
    if (dispatch && entry?.at !== undefined) dispatch.logged = { channel, seq, restored }
  }

  answerReceived({ serverSeq, origin, rejectionReason }: Envelope): void {
    const clientSeq = origin?.clientSeq ?? 0
    const answers = this.#answers.get(clientSeq) ?? []
    answers.push({ seq: serverSeq, reason: rejectionReason })
    this.#answers.set(clientSeq, answers)
  }

  /** Whether an action sent to this channel has no outcome yet. */
  waitsIn(uri: Uri): boolean {
    return this.#dispatches.some(
      ({ channel, clientSeq, outcome }) => channel === uri && clientSeq !== undefined && !outcome,
    )
  }

  /** Actions without an outcome, in dispatch order. */
  get open(): readonly number[] {
    return this.#dispatches.flatMap(({ outcome, clientSeq = 0 }) => (outcome ? [] : [clientSeq]))
  }

  /** Checks I5: accepted actions are in the log, refused ones are not, and each has an outcome. */
  check(): void {
    const { model, restored } = this.#sim
    const inLog = new Set<number>()
    for (const { entries: all } of model.channels.values())
      for (const { origin } of all) if (origin?.clientId === this.#id) inLog.add(origin.clientSeq)
    for (const { clientSeq = 0, channel, outcome, logged } of this.#dispatches) {
      if (!outcome && model.live(channel)) this.#fail('I5', `never learned the outcome of ${clientSeq}`)
      if (outcome?.outcome === 'refused' && inLog.has(clientSeq))
        this.#fail('I5', `reports ${clientSeq} as refused, but it is in the log`)
      if (outcome?.outcome !== 'accepted' || !logged || logged.restored !== restored) continue
      // The rename of a chat is logged in its session. The answer that the client receives in the chat has another
      // sequence number than this log entry (H7.9).
      const renamed = logged.channel !== channel
      const entry = renamed
        ? model.entry(logged.channel, logged.seq)
        : model.entry(channel, outcome.serverSeq)
      const same = entry?.origin?.clientId === this.#id && entry.origin.clientSeq === clientSeq
      if (model.live(channel) && !same)
        this.#fail(
          'I5',
          `reports ${clientSeq} as accepted as ${outcome.serverSeq}, but the log says otherwise`,
        )
    }
  }

  /**
   * Checks an outcome at the moment it is reported. Either the host has sent this outcome, or the outcome is `lost` because
   * nobody can know it.
   */
  #ended(dispatch: Dispatch, outcome: Outcome): void {
    const { clientSeq, channel } = dispatch
    const answers = this.#answers.get(clientSeq ?? 0) ?? []
    this.#sim.trace(() => `${this.#id}: outcome of ${clientSeq}: ${JSON.stringify(outcome)}`)
    if (dispatch.outcome) this.#fail('I5', `reports two outcomes of ${clientSeq}`)
    dispatch.outcome = outcome
    if (outcome.outcome === 'lost') {
      const cut = this.#sim.plan.foreignHost && clientSeq !== undefined && this.#cut.has(clientSeq)
      if (!cut && !this.closed && !this.denied.has(channel))
        this.#fail('I5', `reports ${clientSeq} as lost: ${outcome.reason}`)
    } else if (clientSeq === undefined) {
      if (outcome.outcome === 'accepted') this.#fail('I5', 'reports an action as accepted that it never sent')
    } else if (outcome.outcome === 'accepted') {
      const matches = ({ seq, reason }: Answer) =>
        outcome.serverSeq === (reason === undefined ? seq : Number(already.exec(reason)?.[1]))
      if (!answers.some(matches))
        this.#fail(
          'I5',
          `reports ${clientSeq} as accepted as ${outcome.serverSeq}, but the host did not say so`,
        )
    } else if (!answers.some(({ reason }) => reason === outcome.reason))
      this.#fail('I5', `reports ${clientSeq} as refused (${outcome.reason}), but the host did not say so`)
  }

  #fail(rule: string, problem: string): void {
    this.#sim.fail(rule, `${this.#id} ${problem}`)
  }
}

function numbered({ clientSeq }: Dispatch): boolean {
  return clientSeq !== undefined
}
