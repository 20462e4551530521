import type { Core } from '@atrium/host/core'
import type { Entry } from '@atrium/host/log/entry'
import { hostOf } from '@atrium/host'
import type { Host } from '@atrium/host'
import type { Log } from '@atrium/host/log'
import { openCore } from '@atrium/host/open'
import type { Uri } from '@atrium/protocol/channel'
import type { RootState } from '@atrium/protocol/root/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Court } from './audit.ts'
import { Cast } from './cast.ts'
import { Disk } from './disk.ts'
import { Ghost } from './ghost.ts'
import { watchPassing } from './passing.ts'
import { Laws } from './laws.ts'
import type { Link } from './link.ts'
import type { Person } from './person.ts'
import type { Plan } from './plan.ts'
import { Truth } from './truth.ts'
import { Clock, LifeWorld } from './world.ts'

export interface Violation {
  readonly invariant: string
  readonly problem: string
}

interface Life {
  readonly world: LifeWorld
  readonly links: Set<Link>
  core?: Core
  host?: Host
  readonly cast: Cast
  readonly ghost: Ghost
}

/** What a host may report without anything being wrong. */
const expected = new Set([
  'disk full',
  'disk has space again',
  'store failed',
  'malformed notification',
  'agent failed',
  'session not created',
  'no terminal',
])

/** So that what takes hours, and what takes much, happens in a run. */
export const graceMs = 40_000
const short = { graceMs, turnsPageLength: 400 }

/** One host after another on one disk, the clients, and what connects them: everything a plan can do something to. */
export class Simulation<P extends Person = Person> implements Court {
  readonly plan: Plan
  readonly clock = new Clock()
  readonly truth = new Truth((problem) => this.fail('I3', problem))
  readonly disk: Disk
  readonly laws: Laws
  readonly numbers = new Map<string, string>()
  readonly owed = new Map<Uri, () => boolean>()
  readonly clients: readonly P[]
  /** Links that a client has left and the host has not noticed. */
  readonly late = new Set<Link>()
  /** Lengths that the disk had when somebody copied it. */
  readonly backups: number[] = []
  /** How often one of those took the place of what came after it. */
  restored = 0
  /** Timers that became due and have not run. */
  readonly tasks: (() => void)[] = []
  /** The latest moment that any life has begun at: a machine that is restored from a copy keeps its clock. */
  latest = 0
  life: Life | undefined
  violation: Violation | undefined
  readonly trace: (line: () => string) => void
  /** What was appended in one synchronous step: all of it survives, or nothing. */
  readonly #steps: (readonly number[])[] = []
  #names = 0
  #lives = 0

  constructor(plan: Plan, people: (sim: Simulation<P>) => readonly P[], trace?: (line: string) => void) {
    this.plan = plan
    this.trace = (line) => trace?.(line())
    this.disk = new Disk((step, at) => {
      this.truth.given(step, at)
      this.laws.step(step, at)
    })
    this.laws = new Laws(this.truth, this.disk, (invariant, problem) => this.fail(invariant, problem))
    this.clients = people(this)
    this.start()
  }

  fail(invariant: string, problem: string): void {
    this.violation ??= { invariant, problem }
  }

  /** A name that was never used. */
  readonly name = (): number => ++this.#names

  /** The wall clock, as people write it down. */
  get instant(): string {
    return new Date(this.clock.wall).toISOString()
  }

  /** Where sessions work: what is allowed in a folder is allowed in some of them. */
  get directories(): readonly Uri[] | undefined {
    if (this.plan.theme !== 'decisions') return undefined
    return [this.name() % 3 === 0 ? 'file:///b' : 'file:///a']
  }

  get up(): boolean {
    return this.life?.host !== undefined
  }

  start(): void {
    this.trace(() => 'a host starts')
    this.laws.begins()
    this.latest = Math.max(this.latest, this.clock.wall)
    const heard = (event: string, detail: unknown) => {
      if (!expected.has(event))
        this.fail('report', `${event}: ${detail instanceof Error ? detail.stack : String(detail)}`)
    }
    const cast = new Cast(this.plan.seed + 7919 * ++this.#lives, this.plan.theme, this.laws, this.name)
    const ghost = new Ghost(this)
    const world = new LifeWorld(this.clock, this.name, heard)
    const life: Life = { world, links: new Set(), cast, ghost }
    this.life = life
    const fatal = () => queueMicrotask(() => world.alive && this.crash(this.disk.durable))
    const agents = [life.cast.agent]
    const store = this.disk.open(() => world.alive)
    const { headEvery, tail } = this.plan
    watchPassing(({ channel, seq, action, origin }) => this.truth.passed(channel, seq, action, origin))
    const machine = { terminals: ghost, defaultDirectory: 'file:///' }
    openCore({ store, world, agents, ...machine, headEvery, tail, limits: short, fatal }).then(
      (core) => {
        if (!world.alive) return
        life.core = core
        watchSteps(core.log, this.#steps)
        life.host = hostOf(core)
        if (core.log.diskFull) return
        this.laws.begun()
        this.#allEnded()
      },
      (error: unknown) => {
        // A host may refuse to start on a disk that fails.
        if (this.disk.full || this.disk.broken) fatal()
        else this.fail('I11', `the host does not start: ${(error as Error).stack}`)
      },
    )
  }

  connect(link: Link): void {
    this.life?.links.add(link)
    this.life?.host?.connect(link.host, 'owner')
  }

  /** The process dies, and the disk keeps so many transactions. */
  crash(left: number): void {
    if (!this.life) return
    this.trace(
      () =>
        `the host dies; ${left} of ${this.disk.transactions.length} transactions are left (${this.disk.durable} were safe)`,
    )
    this.life.world.alive = false
    for (const link of [...this.life.links, ...this.late]) link.hostDied()
    this.late.clear()
    this.life = undefined
    this.disk.broken = false
    this.disk.crash(left)
    this.#whole()
    this.truth.rebuild(this.disk.transactions)
    this.laws.crashed(left)
    this.owed.clear()
    this.#consistent()
  }

  /** What was one step is there whole, or not at all. */
  #whole(): void {
    const kept = new Set(
      this.disk.transactions.flatMap(({ step }) => step?.envelopes.map(({ seq }) => seq) ?? []),
    )
    for (const step of this.#steps) {
      const there = step.filter((seq) => kept.has(seq))
      if (there.length > 0 && there.length < step.length)
        this.fail('L1', `of the step ${step.join()} only ${there.join()} was kept`)
    }
    this.#steps.length = 0
  }

  /** A shell ends with its host: none runs when the next begins. */
  #allEnded(): void {
    for (const uri of this.living('ahp-terminal:')) {
      const { lifecycle } = this.truth.stateAt(uri, Infinity) as TerminalState
      if (lifecycle.status === 'running') this.fail('Y6', `${uri} seems to run, and its host has died`)
    }
  }

  /** The root lists the terminals that run, and those that have ended in a client's hands; and those of a session go with it. */
  #listed(
    terminals: readonly (readonly [Uri, TerminalState])[],
    records: ReadonlyMap<string, string | undefined>,
  ): void {
    const root = this.truth.stateAt(rootUri, Infinity) as RootState | undefined
    const listed = (root?.terminals ?? []).map(({ resource }) => resource)
    const shown = terminals.filter(
      ([, { claim, lifecycle }]) => lifecycle.status === 'running' || claim.kind === 'client',
    )
    const expected = shown.map(([uri]) => uri)
    if (listed.toSorted().join() !== expected.toSorted().join())
      this.fail('Y2', `the root lists the terminals ${listed.join()}, and they are ${expected.join()}`)
    for (const [uri, { claim, lifecycle }] of terminals) {
      if (claim.kind !== 'session') continue
      // A chat that has moved took with it what it had held; what had ended by then does not say so, and the chat may be no more.
      const [kept = ''] = (records.get(`part/${uri}`) ?? '').split('\n')
      const home = this.laws.sessionOf(claim.chat) ?? (lifecycle.status === 'running' ? claim.session : kept)
      if (!this.truth.living(home)) this.fail('Y7', `${uri} is there, and its session ${home} is not`)
    }
  }

  /** Whether nothing can make the host forget a channel but the host. */
  isSafe(uri: Uri): boolean {
    const at = this.truth.living(uri)?.born.at
    return at !== undefined && at < this.disk.durable
  }

  heldBy(toolCallId: string): Uri | undefined {
    return this.living('ahp-terminal:').find((uri) => {
      const { claim } = this.truth.stateAt(uri, Infinity) as TerminalState
      return claim.kind === 'session' && claim.toolCallId === toolCallId
    })
  }

  /** What is kept beside the log says what the log says. */
  #consistent(): void {
    const records = new Map<string, string | undefined>()
    for (const { records: put } of this.disk.transactions)
      for (const [key, text] of put) records.set(key, text)
    const keys = [...records].flatMap(([key, text]) => (text === undefined ? [] : [key]))
    const compare = (prefix: string, what: string, expected: readonly string[]) => {
      const kept = keys.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
      if (kept.toSorted().join() !== expected.toSorted().join())
        this.fail('L4', `the disk lists ${what} as ${kept.join()}, and they are ${expected.join()}`)
    }
    const sessions = this.laws.sessions()
    const busy = this.laws.chats().filter(([, chat]) => chat.activeTurn ?? chat.queuedMessages)
    const unmade = sessions.filter(([, { lifecycle }]) => lifecycle === 'creating')
    const uris = (list: readonly (readonly [Uri, unknown])[]) => list.map(([uri]) => uri)
    compare('session/', 'sessions', uris(sessions))
    compare('quiet/', 'unused sessions', uris(sessions.filter(([uri]) => !this.laws.uses.has(uri))))
    const terminals = this.living('ahp-terminal:').map(
      (uri) => [uri, this.truth.stateAt(uri, Infinity) as TerminalState] as const,
    )
    const running = terminals.filter(([, { lifecycle }]) => lifecycle.status === 'running')
    compare('open/', 'open work', uris([...busy, ...unmade, ...running]))
    const held = terminals.filter(([, { claim }]) => claim.kind === 'session')
    compare('part/', 'what goes with sessions', uris(held))
    for (const [uri, { claim }] of held) this.#owned(uri, claim, records.get(`part/${uri}`))
    this.#listed(terminals, records)
    compare('copy/', 'chats that are being made', this.laws.unborn())
    const guests = sessions.flatMap(([uri, { activeClients }]) =>
      activeClients.map(({ clientId }) => JSON.stringify([clientId, uri])),
    )
    // Whoever made a session that nobody has used is waited for, too.
    const makers = keys.flatMap((key) =>
      key.startsWith('quiet/') ? [JSON.stringify([records.get(key), key.slice('quiet/'.length)])] : [],
    )
    compare('guest/', 'active clients', [...new Set([...guests, ...makers])])
    for (const [uri] of this.laws.chats())
      if (!this.truth.living(this.laws.sessionOf(uri) ?? ''))
        this.fail('L1', `${uri} is there without its session`)
  }

  /** What a chat holds goes with the session that it is in. */
  #owned(uri: Uri, claim: TerminalState['claim'], kept = ''): void {
    const home = claim.kind === 'session' ? this.laws.sessionOf(claim.chat) : undefined
    if (home !== undefined && kept.split('\n')[0] !== home)
      this.fail('Y7', `${uri} goes with ${kept}, and its chat is in ${home}`)
  }

  /** What is there, and can be known of. */
  living(prefix = ''): readonly Uri[] {
    const hidden = new Set(this.laws.unborn())
    const known = [...this.truth.stories.keys()].filter((uri) => uri.startsWith(prefix) && !hidden.has(uri))
    return known.filter((uri) => this.truth.living(uri))
  }
}

/** An action and all that is appended because of it, before the door is left again, is one step. */
function watchSteps(log: Log, steps: (readonly number[])[]): void {
  let open: number[] | undefined
  const watch = <A extends readonly unknown[]>(say: (...args: A) => Entry) =>
    function watched(...args: A): Entry {
      const outer = open
      const step = (open ??= [])
      const entry = say(...args)
      step.push(entry.seq)
      open = outer
      if (!outer && step.length > 1) steps.push(step)
      return entry
    }
  log.append = watch(log.append.bind(log))
  log.accept = watch(log.accept.bind(log))
}
