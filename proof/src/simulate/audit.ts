import { equal } from '@atrium/host/log/equal'
import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import type { Disk } from './disk.ts'
import type { Eye } from './eye.ts'
import type { Laws } from './laws.ts'
import type { Message } from './link.ts'
import { alike, mayMerge } from './truth.ts'
import { met } from './tally.ts'
import type { Fact, Truth } from './truth.ts'
import { answers } from './word.ts'

/** What a run knows, and where it says that something is wrong. */
export interface Court {
  readonly truth: Truth
  readonly disk: Disk
  readonly laws: Laws
  /** What each number has meant, to whomever, since the beginning. */
  readonly numbers: Map<string, string>
  /** Sessions whose creation was asked for and not answered, each with whether it still can be. */
  readonly owed: Map<Uri, () => boolean>
  fail(invariant: string, problem: string): void
  /** What happens, for whoever wants to read it. */
  trace(line: () => string): void
}

export interface Question {
  readonly method: string
  readonly params: {
    readonly channel?: Uri
    readonly lastSeenServerSeq?: number
    readonly subscriptions?: readonly Uri[]
    readonly view?: { readonly turns: number }
    readonly chat?: Uri
    readonly destination?: object
    /** Asked behind having left a channel. */
    readonly left?: Uri
  }
}

/** Everything the host says on one link, judged in the moment it is said: what is told must be true and safe by then. */
export class Audit {
  readonly #court: Court
  readonly #clientId: string
  readonly #eye: Eye
  readonly #asked: ReadonlyMap<number, Question>
  /** Each channel that this link follows, and the number up to which it has been told everything. */
  readonly #upTo = new Map<Uri, number>()
  readonly #left = new Set<Uri>()
  #last = 0

  constructor(court: Court, clientId: string, eye: Eye, asked: ReadonlyMap<number, Question>) {
    this.#court = court
    this.#eye = eye
    this.#clientId = clientId
    this.#asked = asked
  }

  /** The client has said that it no longer follows: what is on its way may still come, until it was heard. */
  left(uri: Uri): void {
    if (this.#upTo.delete(uri)) this.#left.add(uri)
  }

  /** Gives what the client's state must be after it, by number. */
  said({ id, method, params, result, error }: Message): unknown {
    if (method === 'action') return this.#envelope(params as Envelope)
    if (method !== undefined) return this.#note(method, params as NoteParams)
    const question = id === undefined ? undefined : this.#asked.get(id)
    if (question?.method === 'createSession') this.#court.owed.delete(question.params.channel ?? '')
    if (error || !question) return undefined
    return this.#answer(question, (result ?? {}) as Answer)
  }

  /** At the end everything has been told. */
  complete(): void {
    for (const [uri, upTo] of this.#upTo) {
      const missed = this.#missed(uri, upTo, Infinity)
      if (missed && this.#court.truth.living(uri))
        this.#fail('I2', `was never told ${missed.seq} of ${uri} (told up to ${upTo})`)
    }
  }

  #answer({ method, params }: Question, result: Answer): unknown {
    const { truth, disk } = this.#court
    const story = truth.stories.get(params.channel ?? '')
    if (method === 'createSession' && !(story && story.born.at < disk.durable))
      this.#fail('I1', `createSession of ${params.channel} was answered before it was durable`)
    const ended = method === 'disposeSession' || method === 'disposeChat'
    if (ended && story && !(story.dropped && story.dropped.at < disk.durable))
      this.#fail('I1', `${method} of ${params.channel} was answered before it was durable`)
    if (method === 'createChat' && !this.#wasSafelyIn(params.chat ?? '', params.channel ?? ''))
      this.#fail('I1', `createChat of ${params.chat} was answered before it was durable`)
    if (method === 'moveChat' && !this.#wasSafelyIn(params.channel ?? '', result.session ?? ''))
      this.#fail('I1', `moveChat of ${params.channel} was answered before it was durable`)
    if (method === 'listSessions') this.#list(params.left, result.items ?? [])
    for (const snapshot of result.snapshots ?? []) this.#snapshot(snapshot)
    if (result.snapshot) this.#snapshot(result.snapshot, params.view?.turns)
    if (method !== 'reconnect') return undefined
    for (const uri of result.missing ?? [])
      if (truth.living(uri)) this.#fail('I12', `${uri} is there and was called missing`)
    if (!result.actions) return undefined
    const lastSeen = params.lastSeenServerSeq ?? 0
    for (const uri of params.subscriptions ?? [])
      if (!result.missing?.includes(uri)) this.#upTo.set(uri, lastSeen)
    this.#last = lastSeen
    return result.actions.map((envelope) => this.#envelope(envelope, true))
  }

  /** What may have become of it since, its session has durably had it. */
  #wasSafelyIn(chat: Uri, session: Uri): boolean {
    const { truth, disk } = this.#court
    const lists = (state: unknown) =>
      (state as { chats: readonly { resource: Uri }[] }).chats.some(({ resource }) => resource === chat)
    const { born, facts = [] } = truth.stories.get(session) ?? {}
    if (born && born.at < disk.durable && lists(born.state)) return true
    return facts.some(({ at = Infinity, state }) => at < disk.durable && lists(state))
  }

  #list(left: Uri | undefined, items: readonly { readonly resource: Uri }[]): void {
    // What was asked behind it is answered: so it was heard.
    if (left !== undefined && !this.#upTo.has(left)) this.#left.delete(left)
    for (const { resource } of items) {
      if (!this.#court.laws.uses.isSafe(resource))
        this.#fail('I19', `was shown ${resource} in the list before it was used, and that durable`)
    }
  }

  #envelope(envelope: Envelope, replayed = false): unknown {
    const { channel, action, serverSeq: seq, origin, rejectionReason } = envelope
    const { truth } = this.#court
    this.#number(envelope)
    if (seq <= this.#last) this.#fail('I2', `${seq} was told after ${this.#last}`)
    this.#last = seq
    const own = origin?.clientId === this.#clientId
    const upTo = this.#upTo.get(channel)
    if (!own && upTo === undefined && !this.#left.has(channel))
      this.#fail('I9', `was told ${seq} of ${channel}, which it does not follow`)
    if (rejectionReason !== undefined) {
      if (!own) this.#fail('I9', `was told the refusal ${seq} of somebody else`)
      this.#refusal(envelope, rejectionReason)
      return undefined
    }
    if (!own && !this.#eye.knows(action))
      this.#fail('V6', `was told ${seq} ${action.type}, which its generation does not know`)
    if (action.type === 'chat/turnsLoaded' && !own) return this.#page(envelope)
    const fact = truth.fact(channel, seq)
    if (fact) this.#fact(channel, fact, envelope, own)
    else if (!own || replayed || !this.#sameAgain(envelope))
      this.#fail('I9', `was told ${seq} ${action.type}, which never happened`)
    // What somebody decides decides something: that it is as wished already is for others to have decided.
    else if (answers.has(action.type))
      this.#fail('X1', `was told that ${seq} ${action.type} was accepted, and it was too late`)
    if (upTo !== undefined && fact) {
      const missed = this.#missed(channel, upTo, seq)
      if (missed) this.#fail('I2', `was told ${seq} of ${channel} and not ${missed.seq} before it`)
      this.#upTo.set(channel, seq)
    }
    return truth.stateAt(channel, seq)
  }

  /** Turns of the past, told to it alone: as they are. */
  #page({ channel, action, serverSeq }: Envelope): unknown {
    const state = this.#court.truth.stateAt(channel, serverSeq) as { turns?: readonly { id: string }[] }
    for (const turn of (action as { turns?: readonly { id: string }[] }).turns ?? [])
      if (
        !equal(
          turn,
          state.turns?.find(({ id }) => id === turn.id),
        )
      )
        this.#fail('I9', `was given ${turn.id} of ${channel} at ${serverSeq}, which is not so`)
    return state
  }

  #fact(channel: Uri, fact: Fact, said: Envelope, own: boolean): void {
    const { seq, action, at, origin } = fact
    const kind = this.#court.truth.stories.get(channel)?.kind
    const words = own || !kind ? fact.text : textOf(this.#eye.told(kind, action), fact)
    const same = JSON.stringify(said.action) === words || mayMerge(action)
    if (!same || said.origin?.clientSeq !== origin?.clientSeq)
      this.#fail('I2', `${seq} of ${channel} is ${words}, and ${JSON.stringify(said.action)} was told`)
    const { truth, disk } = this.#court
    const strict = truth.stories.get(channel)?.kind.classes.get(action.type) === 'strict'
    if (strict && !(at !== undefined && at < disk.durable))
      this.#fail('I1', `${seq} ${action.type} was told before it was durable`)
  }

  /** What is called accepted was: the very same, with a number of the client's own. */
  #refusal({ channel, action, origin }: Envelope, reason: string): void {
    if (answers.has(action.type)) met(`refused: ${reason.startsWith('already') ? 'the same again' : reason}`)
    const accepted = /^already accepted as (\d+)$/.exec(reason)?.[1]
    if (accepted === undefined) return
    const fact = this.#court.truth.fact(channel, Number(accepted))
    const same = fact?.origin?.clientSeq === origin?.clientSeq && fact?.text === JSON.stringify(action)
    if (!same || origin?.clientSeq === 0)
      this.#fail('I5', `was told that ${origin?.clientSeq} was accepted as ${accepted}, which it was not`)
  }

  /** A client's action that changes nothing is told to it and stored nowhere. */
  #sameAgain({ channel, action, serverSeq }: Envelope): boolean {
    const kind = this.#court.truth.stories.get(channel)?.kind
    const state = this.#court.truth.stateAt(channel, serverSeq)
    return kind !== undefined && state !== undefined && alike(kind, kind.reduce(state, action), state)
  }

  #snapshot({ resource, state, fromSeq }: Snapshot, turns?: number): void {
    const { truth, disk } = this.#court
    const story = truth.stories.get(resource)
    if (!story) return this.#fail('I9', `was given a snapshot of ${resource}, which is not there`)
    if (resource.startsWith('ahp-chat:') && this.#court.laws.sessionOf(resource) === undefined)
      this.#fail('I9', `was given a snapshot of ${resource}, which is still being made`)
    const fold = truth.stateAt(resource, fromSeq)
    if (!this.#eye.sees(resource, story.kind, state, fold))
      this.#fail('I3', `the snapshot of ${resource} at ${fromSeq} is not its fold`)
    const shown = (state as { turns?: readonly unknown[] }).turns?.length
    const all = (fold as { turns?: readonly unknown[] } | undefined)?.turns?.length ?? 0
    // More, where a change that is on its way needs it.
    if (turns !== undefined && (shown ?? 0) < Math.min(turns, all))
      this.#fail('I3', `was shown ${shown} turns of ${resource}, and asked for ${turns} of ${all}`)
    const unsafe = story.facts.find(
      ({ seq, action, at = Infinity }) =>
        seq <= fromSeq && at >= disk.durable && story.kind.classes.get(action.type) === 'strict',
    )
    if (unsafe || story.born.at >= disk.durable)
      this.#fail('I1', `the snapshot of ${resource} at ${fromSeq} shows what is not durable`)
    this.#upTo.set(resource, fromSeq)
    this.#left.delete(resource)
  }

  #note(method: string, { session = '', summary, changes }: NoteParams): void {
    if (!this.#upTo.has(rootUri) && !this.#left.has(rootUri))
      this.#fail('I9', `was told ${method} without following the root`)
    const story = this.#court.truth.stories.get(summary?.resource ?? session)
    const safe = (at: number | undefined) => at !== undefined && at < this.#court.disk.durable
    const added = method === 'root/sessionAdded' ? (summary?.resource ?? '') : undefined
    if (added !== undefined && !this.#court.laws.uses.isSafe(added))
      this.#fail('I19', `${added} was announced before it was used, and that durable`)
    if (added !== undefined && this.#court.owed.get(added)?.())
      this.#fail('I19', `${added} was announced before its creator was answered`)
    if (method === 'root/sessionRemoved' && story && !safe(story.dropped?.at))
      this.#fail('I7', `${session} was called removed before that was durable`)
    if (method !== 'root/sessionSummaryChanged' || changes?.title === undefined) return
    const shown = story?.facts.some(
      ({ at, state }) => safe(at) && (state as { title?: string }).title === changes.title,
    )
    if (!shown)
      this.#fail('I7', `the title ${JSON.stringify(changes.title)} was announced before it was durable`)
  }

  #missed(uri: Uri, after: number, before: number): Fact | undefined {
    const facts = this.#court.truth.stories.get(uri)?.facts ?? []
    const kind = this.#court.truth.stories.get(uri)?.kind
    return facts.find(
      ({ seq, action, fixed }) =>
        seq > after &&
        seq < before &&
        !fixed &&
        !mayMerge(action) &&
        (!kind || this.#eye.told(kind, action) !== undefined),
    )
  }

  /** A number means one thing, for everyone and for ever. What is merged stands for others, so its words may differ. */
  #number({ channel, action, serverSeq, origin, rejectionReason }: Envelope): void {
    const { numbers } = this.#court
    const words = mayMerge(action) ? action.type : JSON.stringify(action)
    const meaning = `${channel} ${words} ${origin?.clientId}/${origin?.clientSeq} ${rejectionReason}`
    // Each generation has its own words for it, but for what one said itself.
    const key = `${origin?.clientId === this.#clientId ? '' : this.#eye.version} ${serverSeq}`
    const before = numbers.get(key)
    if (before !== undefined && before !== meaning)
      this.#fail('I2', `the number ${serverSeq} means ${before}, and now ${meaning}`)
    numbers.set(key, meaning)
  }

  #fail(invariant: string, problem: string): void {
    this.#court.fail(invariant, `${this.#clientId} ${problem}`)
  }
}

function textOf(told: Action | undefined, { action, text }: Fact): string {
  return told === action ? text : JSON.stringify(told)
}

interface Answer {
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Envelope[]
  readonly missing?: readonly Uri[]
  readonly session?: Uri
  readonly items?: readonly { readonly resource: Uri }[]
}

interface NoteParams {
  readonly session?: Uri
  readonly summary?: { readonly resource: Uri }
  readonly changes?: { readonly title?: string }
}
