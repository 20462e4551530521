import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { Client } from '../client.ts'
import type { AuditedSession } from './audited-session.ts'
import type { RandomChoices } from './random-choices.ts'
import type { SoakRun } from './soak-run.ts'
import { withTimeout } from './timeout.ts'

/** The operations of a client, with their relative frequency. */
const weights = {
  dispatch: 60,
  subscribe: 12,
  unsubscribe: 6,
  compare: 8,
  leave: 3,
  drop: 5,
  takeOver: 2,
  invalidAction: 2,
  replace: 2,
}

/** A client that acts at random as users do: it subscribes, dispatches, leaves, reconnects, and loses its connection. */
export class SimulatedClient {
  readonly #run: SoakRun
  readonly #random: RandomChoices
  readonly #name: string
  #client: Client
  /** The number of client ids used so far. */
  #identities = 0
  #dispatched = 0

  constructor(run: SoakRun, random: RandomChoices, name: string) {
    this.#run = run
    this.#random = random
    this.#name = name
    this.#client = this.#newClient()
  }

  async act(): Promise<void> {
    await this.#client.initialize(this.#run.endpoint, [rootUri])
    while (!this.#run.over) {
      const operation = this.#random.weighted(weights)
      await withTimeout(`${this.#name}, ${operation}`, this.#operations[operation]()).catch(
        (error: unknown) => this.#recover(operation, error),
      )
      await this.#random.pause(20, 500)
    }
    this.#reportProblems()
    await this.#client.leave()
  }

  readonly #operations: { readonly [name in keyof typeof weights]: () => Promise<unknown> } = {
    dispatch: () =>
      this.#inSession(async (session) => {
        const actions = Array.from({ length: this.#random.between(1, 6) }, () => this.#dispatch(session))
        await this.#acrossLinks(Promise.all(actions))
      }),
    subscribe: async () => {
      const session = this.#random.pick(this.#run.openSessions)
      await session?.use(() => this.#client.subscribe(session.uri))
    },
    unsubscribe: async () => {
      const uri = this.#random.pick(this.#subscribed())
      if (uri !== undefined) this.#client.unsubscribe(uri)
    },
    compare: () =>
      this.#inSession(async (session) => {
        await this.#client.compare(session.uri)
        await this.#client.compare(rootUri)
        this.#run.counts.comparisons++
      }),
    leave: async () => {
      await this.#client.leave()
      await this.#random.pause(0, 2000)
      await this.#reconnect()
    },
    drop: () =>
      this.#inSession(async (session) => {
        const actions = Array.from({ length: this.#random.between(0, 4) }, () => this.#dispatch(session))
        await this.#client.drop()
        await this.#random.pause(0, 500)
        await this.#reconnect()
        await this.#acrossLinks(Promise.all(actions))
      }),
    // The old connection stays open: the host must close it.
    takeOver: () => this.#reconnect(),
    invalidAction: () =>
      this.#inSession(async ({ uri }) => {
        const envelope = await this.#acrossLinks(this.#client.dispatch(uri, { type: 'session/ready' }))
        if (envelope.rejectionReason === undefined)
          this.#run.problem('session/ready of a client was accepted')
      }),
    replace: async () => {
      this.#reportProblems()
      await this.#client.drop()
      this.#client = this.#newClient()
      await this.#client.initialize(this.#run.endpoint, [rootUri])
    },
  }

  #newClient(): Client {
    const client = new Client(`${this.#name}-${++this.#identities}`)
    client.onEnvelope = (envelope) => this.#run.delivered(envelope)
    return client
  }

  #subscribed(): readonly Uri[] {
    return this.#client.replicas.channels.filter((uri) => uri !== rootUri)
  }

  /** Runs a task in a subscribed session that is still open. If there is none, subscribes to a session instead. */
  async #inSession(task: (session: AuditedSession) => Promise<void>): Promise<void> {
    const sessions = this.#subscribed().flatMap((uri) => this.#run.session(uri) ?? [])
    const session = this.#random.pick(sessions.filter(({ open }) => open))
    if (session) await session.use(() => task(session))
    else await this.#operations.subscribe()
  }

  /**
   * Dispatches a random action and waits for its echo. Records a rejection here, because `onEnvelope` reports only
   * envelopes that change a state.
   */
  async #dispatch({ uri, record }: AuditedSession): Promise<Envelope> {
    const envelope = await this.#client.dispatch(uri, this.#action(uri))
    if (envelope.rejectionReason !== undefined) this.#run.problem(record.add(envelope))
    return envelope
  }

  #action(uri: Uri): Action {
    const text = `${this.#name} ${this.#identities} ${++this.#dispatched}`
    const { workingDirectories = [] } = (this.#client.replicas.state(uri) ?? {}) as Partial<SessionState>
    const { clientId } = this.#client
    const actions: readonly object[] = [
      { type: 'session/titleChanged', title: text },
      { type: 'session/isReadChanged', isRead: this.#dispatched % 2 === 0 },
      { type: 'session/isArchivedChanged', isArchived: this.#dispatched % 3 === 0 },
      { type: 'session/activeClientSet', activeClient: { clientId, displayName: text, tools: [] } },
      { type: 'session/activeClientSet', activeClient: { clientId, displayName: text, tools: [] } },
      { type: 'session/activeClientRemoved', clientId },
      workingDirectories.length < 5
        ? { type: 'session/workingDirectorySet', directory: `file:///${this.#dispatched % 50}` }
        : { type: 'session/workingDirectoryRemoved', directory: this.#random.pick(workingDirectories) },
    ]
    // `pick` returns undefined only for an empty list.
    return this.#random.pick(actions) as Action
  }

  /** Waits for a result. Reconnects whenever the connection ends before the result comes. */
  async #acrossLinks<T>(result: Promise<T>): Promise<T> {
    for (;;) {
      const settled = await Promise.race([
        result.then((value) => ({ value })),
        this.#client.ended.then(() => {}),
      ])
      if (settled) return settled.value
      await this.#reconnect()
    }
  }

  async #reconnect(): Promise<void> {
    await this.#client.reconnect(this.#run.endpoint)
    this.#run.counts.reconnects++
  }

  /** Reconnects after an operation failed because its connection ended. Any other failure is a problem. */
  async #recover(operation: string, error: unknown): Promise<void> {
    if (this.#client.open) this.#run.problem(`${this.#client.clientId}, ${operation}: ${String(error)}`)
    else
      await this.#reconnect().catch((why: unknown) =>
        this.#run.problem(`${operation}, reconnecting: ${String(why)}`),
      )
  }

  /** Reports the problems of this client before it changes its client id. */
  #reportProblems(): void {
    this.#run.problem(...this.#client.problems)
    if (this.#client.pending > 0)
      this.#run.problem(`${this.#client.clientId}: ${this.#client.pending} actions without an echo`)
  }
}
