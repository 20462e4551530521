import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Simulation } from '../simulate/simulation.ts'

/** Something that an app wished, and what its client said became of it. */
interface Entry {
  /** Nothing where the client itself refused it. */
  readonly clientSeq: number | undefined
  readonly channel: Uri
  readonly text: string
  outcome?: Outcome
  /** The host had it in its log when it told so; and how often older copies had been restored by then. */
  logged?: { readonly seq: number; readonly restored: number }
}

/** What the host told of a wish. */
interface Told {
  readonly seq: number
  readonly reason: string | undefined
}

const already = /^already accepted as (\d+)$/

/** All that one client was asked to wish, what it sent of that, what it was told, and what it says: whether these agree. */
export class Account {
  readonly #sim: Simulation
  readonly #id: string
  readonly #entries: Entry[] = []
  readonly #told = new Map<number, Told[]>()
  /** What the host has said it has not, or will not show. */
  readonly denied = new Set<Uri>()
  /** Wishes that went over a link that has ended. */
  readonly #cut = new Set<number>()
  #sent: number[] = []
  closed = false

  constructor(sim: Simulation, id: string) {
    this.#sim = sim
    this.#id = id
  }

  /** How many have ended, by how. */
  get counts(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const { outcome } of this.#entries) {
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
    const entry: Entry = { clientSeq, channel, text: clientSeq === undefined ? '' : JSON.stringify(action) }
    this.#entries.push(entry)
    return outcome.then((end) => this.#ended(entry, end))
  }

  /** U2, U4: over one link everything goes once, in the order it was wished, as it was wished, and not after its end. */
  sent(clientSeq: number, channel: Uri, action: Action): void {
    const entry = this.#entries.find((wished) => wished.clientSeq === clientSeq)
    const last = this.#sent.at(-1) ?? 0
    if (entry && (entry.channel !== channel || entry.text !== JSON.stringify(action)))
      this.#fail('U4', `sends as ${clientSeq} what was not wished so`)
    if (!entry && clientSeq <= (this.#entries.findLast(numbered)?.clientSeq ?? 0))
      this.#fail('U4', `sends ${clientSeq}, which nobody wished`)
    if (this.#sim.plan.bare && this.#cut.has(clientSeq))
      this.#fail('U4', `sends ${clientSeq} again to a host that may take it twice`)
    if (entry?.outcome) this.#fail('U1', `sends ${clientSeq} again, which has ended`)
    if (clientSeq <= last) this.#fail('U2', `sends ${clientSeq} after ${last}`)
    this.#sent.push(clientSeq)
  }

  /** A link has ended. */
  cut(): void {
    for (const clientSeq of this.#sent) this.#cut.add(clientSeq)
    this.#sent = []
  }

  /** The host says it: so it is true now, and must stay so. */
  said({ channel, serverSeq, origin, rejectionReason }: Envelope): void {
    const entry = this.#entries.find(({ clientSeq }) => clientSeq === origin?.clientSeq)
    const seq = rejectionReason === undefined ? serverSeq : Number(already.exec(rejectionReason)?.[1])
    const { truth, restored } = this.#sim
    const fact = truth.fact(channel, seq)
    if (entry && fact?.at !== undefined) entry.logged = { seq, restored }
  }

  heard({ serverSeq, origin, rejectionReason }: Envelope): void {
    const clientSeq = origin?.clientSeq ?? 0
    const told = this.#told.get(clientSeq) ?? []
    told.push({ seq: serverSeq, reason: rejectionReason })
    this.#told.set(clientSeq, told)
  }

  /** Something that it sent there has not ended. */
  waitsIn(uri: Uri): boolean {
    return this.#entries.some(
      ({ channel, clientSeq, outcome }) => channel === uri && clientSeq !== undefined && !outcome,
    )
  }

  /** Those that have not ended, in the order they were wished. */
  get open(): readonly number[] {
    return this.#entries.flatMap(({ outcome, clientSeq = 0 }) => (outcome ? [] : [clientSeq]))
  }

  /** I5: what was accepted is in the log, what was refused is not, and nothing was forgotten. */
  judge(): void {
    const { truth, restored } = this.#sim
    const facts = new Set<number>()
    for (const { facts: all } of truth.stories.values())
      for (const { origin } of all) if (origin?.clientId === this.#id) facts.add(origin.clientSeq)
    for (const { clientSeq = 0, channel, outcome, logged } of this.#entries) {
      if (!outcome && truth.living(channel)) this.#fail('I5', `never learned what became of ${clientSeq}`)
      if (outcome?.outcome === 'refused' && facts.has(clientSeq))
        this.#fail('I5', `says that ${clientSeq} was refused, and it is in the log`)
      if (outcome?.outcome !== 'accepted' || !logged || logged.restored !== restored) continue
      const fact = truth.fact(channel, outcome.serverSeq)
      const same = fact?.origin?.clientId === this.#id && fact.origin.clientSeq === clientSeq
      if (truth.living(channel) && !same)
        this.#fail('I5', `says that ${clientSeq} was accepted as ${outcome.serverSeq}, which it was not`)
    }
  }

  /** In the moment it ends: the host has said so, or nobody can know. */
  #ended(entry: Entry, outcome: Outcome): void {
    const { clientSeq, channel } = entry
    const told = this.#told.get(clientSeq ?? 0) ?? []
    this.#sim.trace(() => `${this.#id}: ${clientSeq} has ended: ${JSON.stringify(outcome)}`)
    if (entry.outcome) this.#fail('I5', `ends ${clientSeq} twice`)
    entry.outcome = outcome
    if (outcome.outcome === 'lost') {
      const cut = this.#sim.plan.bare && clientSeq !== undefined && this.#cut.has(clientSeq)
      if (!cut && !this.closed && !this.denied.has(channel))
        this.#fail('I5', `has lost ${clientSeq}: ${outcome.reason}`)
    } else if (clientSeq === undefined) {
      if (outcome.outcome === 'accepted') this.#fail('I5', 'calls accepted what it never sent')
    } else if (outcome.outcome === 'accepted') {
      const so = ({ seq, reason }: Told) =>
        outcome.serverSeq === (reason === undefined ? seq : Number(already.exec(reason)?.[1]))
      if (!told.some(so))
        this.#fail('I5', `calls ${clientSeq} accepted as ${outcome.serverSeq}, and nobody said so`)
    } else if (!told.some(({ reason }) => reason === outcome.reason))
      this.#fail('I5', `calls ${clientSeq} refused (${outcome.reason}), and nobody said so`)
  }

  #fail(rule: string, problem: string): void {
    this.#sim.fail(rule, `${this.#id} ${problem}`)
  }
}

function numbered({ clientSeq }: Entry): boolean {
  return clientSeq !== undefined
}
