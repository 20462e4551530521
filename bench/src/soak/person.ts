import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { Client } from '../client.ts'
import type { Chance } from './chance.ts'
import { patiently } from './patience.ts'
import type { Room } from './room.ts'
import type { Town } from './town.ts'

const habits = {
  say: 60,
  follow: 12,
  unfollow: 6,
  compare: 8,
  leave: 3,
  drop: 5,
  takeOver: 2,
  nonsense: 2,
  beReplaced: 2,
}

/** Somebody who uses the host as people do: follows, changes, goes, comes back, is cut off in the middle of a word. */
export class Person {
  readonly #town: Town
  readonly #chance: Chance
  readonly #name: string
  #client: Client
  #lives = 0
  #words = 0

  constructor(town: Town, chance: Chance, name: string) {
    this.#town = town
    this.#chance = chance
    this.#name = name
    this.#client = this.#born()
  }

  async live(): Promise<void> {
    await this.#client.initialize(this.#town.place, [rootUri])
    while (!this.#town.over) {
      const habit = this.#chance.weighted(habits)
      await patiently(`${this.#name}, ${habit}`, this.#habits[habit]()).catch((error: unknown) =>
        this.#mend(habit, error),
      )
      await this.#chance.pause(20, 500)
    }
    this.#say()
    await this.#client.leave()
  }

  readonly #habits: { readonly [H in keyof typeof habits]: () => Promise<unknown> } = {
    say: () =>
      this.#inside(async (room) => {
        const many = Array.from({ length: this.#chance.between(1, 6) }, () => this.#wish(room))
        await this.#through(Promise.all(many))
      }),
    follow: async () => {
      const room = this.#chance.pick(this.#town.rooms)
      await room?.use(() => this.#client.subscribe(room.uri))
    },
    unfollow: async () => {
      const uri = this.#chance.pick(this.#followed())
      if (uri !== undefined) this.#client.unsubscribe(uri)
    },
    compare: () =>
      this.#inside(async (room) => {
        await this.#client.compare(room.uri)
        await this.#client.compare(rootUri)
        this.#town.done.comparisons++
      }),
    leave: async () => {
      await this.#client.leave()
      await this.#chance.pause(0, 2000)
      await this.#back()
    },
    drop: () =>
      this.#inside(async (room) => {
        const many = Array.from({ length: this.#chance.between(0, 4) }, () => this.#wish(room))
        await this.#client.drop()
        await this.#chance.pause(0, 500)
        await this.#back()
        await this.#through(Promise.all(many))
      }),
    // The old link is not closed: the host must do that.
    takeOver: () => this.#back(),
    nonsense: () =>
      this.#inside(async ({ uri }) => {
        const envelope = await this.#through(this.#client.dispatch(uri, { type: 'session/ready' }))
        if (envelope.rejectionReason === undefined) this.#town.problem('a client said session/ready')
      }),
    beReplaced: async () => {
      this.#say()
      await this.#client.drop()
      this.#client = this.#born()
      await this.#client.initialize(this.#town.place, [rootUri])
    },
  }

  #born(): Client {
    const client = new Client(`${this.#name}-${++this.#lives}`)
    client.told = (envelope) => this.#town.told(envelope)
    return client
  }

  #followed(): readonly Uri[] {
    return this.#client.replicas.channels.filter((uri) => uri !== rootUri)
  }

  /** Something in a session that is followed and still there, if there is one. */
  async #inside(task: (room: Room) => Promise<void>): Promise<void> {
    const rooms = this.#followed().flatMap((uri) => this.#town.room(uri) ?? [])
    const room = this.#chance.pick(rooms.filter(({ open }) => open))
    if (room) await room.use(() => task(room))
    else await this.#habits.follow()
  }

  /** A wish ends as an echo or a refusal, and both are noted. */
  async #wish({ uri, ledger }: Room): Promise<Envelope> {
    const envelope = await this.#client.dispatch(uri, this.#action(uri))
    if (envelope.rejectionReason !== undefined) this.#town.problem(ledger.note(envelope))
    return envelope
  }

  #action(uri: Uri): Action {
    const text = `${this.#name} ${this.#lives} ${++this.#words}`
    const { workingDirectories = [] } = (this.#client.replicas.state(uri) ?? {}) as Partial<SessionState>
    const { clientId } = this.#client
    const actions: readonly object[] = [
      { type: 'session/titleChanged', title: text },
      { type: 'session/isReadChanged', isRead: this.#words % 2 === 0 },
      { type: 'session/isArchivedChanged', isArchived: this.#words % 3 === 0 },
      { type: 'session/activeClientSet', activeClient: { clientId, displayName: text, tools: [] } },
      { type: 'session/activeClientSet', activeClient: { clientId, displayName: text, tools: [] } },
      { type: 'session/activeClientRemoved', clientId },
      workingDirectories.length < 5
        ? { type: 'session/workingDirectorySet', directory: `file:///${this.#words % 50}` }
        : { type: 'session/workingDirectoryRemoved', directory: this.#chance.pick(workingDirectories) },
    ]
    return this.#chance.pick(actions) as Action
  }

  /** Waits for it across links: whoever is cut off comes back. */
  async #through<T>(done: Promise<T>): Promise<T> {
    for (;;) {
      const got = await Promise.race([done.then((value) => ({ value })), this.#client.ended.then(() => {})])
      if (got) return got.value
      await this.#back()
    }
  }

  async #back(): Promise<void> {
    await this.#client.reconnect(this.#town.place)
    this.#town.done.returns++
  }

  /** A link that ended in the middle of something is an ordinary thing, anything else is not. */
  async #mend(habit: string, error: unknown): Promise<void> {
    if (this.#client.open) this.#town.problem(`${this.#client.clientId}, ${habit}: ${String(error)}`)
    else
      await this.#back().catch((why: unknown) => this.#town.problem(`${habit}, coming back: ${String(why)}`))
  }

  /** What it noticed goes to the town when it leaves for good. */
  #say(): void {
    this.#town.problem(...this.#client.problems)
    if (this.#client.pending > 0)
      this.#town.problem(`${this.#client.clientId}: ${this.#client.pending} wishes without an end`)
  }
}
