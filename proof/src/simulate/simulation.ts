import { memorySearch } from '@atrium/adapters/search/memory'
import type { Core } from '@atrium/host/core'
import { hostOf } from '@atrium/host'
import type { Host } from '@atrium/host'
import { openCore } from '@atrium/host/open'
import type { Step } from '@atrium/host/ports/log'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { RunContext } from './checks/context.ts'
import { SimulatedChanges } from './changes/changes.ts'
import { checkAnnotations } from './changes/change-checks.ts'
import { Disk } from './disk.ts'
import { Meanings } from '../judge/link-rules.ts'
import { watchEphemeral } from './ephemeral.ts'
import { Invariants } from './checks/invariants.ts'
import type { Link } from './link.ts'
import type { Plan } from './plan.ts'
import { PastStates } from './checks/past-states.ts'
import { checkRecords } from './checks/record-checks.ts'
import { indexOf } from './checks/search-index.ts'
import { ReferenceModel } from './checks/reference-model.ts'
import { turnLength } from './checks/text-length.ts'
import { SimulatedAgents } from './simulated-agents.ts'
import type { SimulatedClient } from './simulated-client.ts'
import { automationsUri } from '@atrium/protocol/uri'
import { SimulatedTerminals } from './simulated-terminals.ts'
import { partialStep, watchSteps } from './steps.ts'
import type { StepNumbers } from './steps.ts'
import { Clock, HostRunWorld } from './world.ts'

export interface Violation {
  readonly invariant: string
  readonly problem: string
}

/** One host process, from its start to its end. */
interface HostRun {
  readonly world: HostRunWorld
  readonly links: Set<Link>
  core?: Core
  host?: Host
  readonly agents: SimulatedAgents
  readonly terminals: SimulatedTerminals
}

/** Events that a correct host may report. */
const expectedReports = new Set([
  'disk full',
  'disk has space again',
  'history lost',
  'store failed',
  'malformed notification',
  'agent failed',
  'session not created',
  'no terminal',
  'files left by interrupted edits',
])

/** Short limits, so that their effects happen within a run. */
export const graceMs = 40_000
const shortRounds = {
  roundLength: 2000,
  sharedRoundLength: 2000,
  aheadLength: 12_000,
  sharedAheadLength: 6000,
}
const shortLimits = { graceMs, turnsPageLength: 400, turnLength, ...shortRounds }

/** Whether the clients of a plan create sessions before they use them, as VS Code does. In one of three plans they do. */
function createsInAdvance({ seed }: Plan): boolean {
  return seed % 3 === 0
}

/** Successive host runs on one disk, the clients, and the links between them: everything that an op can act on. */
export class Simulation<P extends SimulatedClient = SimulatedClient> implements RunContext {
  readonly plan: Plan
  readonly clock = new Clock()
  readonly model = new ReferenceModel((problem) => this.fail('I3', problem))
  readonly disk: Disk
  readonly invariants: Invariants
  readonly meanings = new Meanings()
  /** The search index. It survives crashes, and may then be ahead of the disk. */
  readonly index = memorySearch()
  /** The files and what happens to them. Only the theme `changes` has files. */
  readonly changes: SimulatedChanges | undefined
  /** The states that clients had, in the theme `changes`. */
  readonly past: PastStates | undefined
  readonly unansweredCreations = new Map<Uri, () => boolean>()
  readonly clients: readonly P[]
  /** Links that the client has ended and the host has not noticed. */
  readonly halfOpen = new Set<Link>()
  /** The number of transactions on the disk at each backup. */
  readonly backups: number[] = []
  /** Number of times a backup was restored. */
  restored = 0
  /** Timers that are due and have not run. */
  readonly tasks: (() => void)[] = []
  /**
   * The latest time, in milliseconds, from which a host run derived its first sequence number. It becomes lower in
   * one case only: the operation `restore` sets the clock back by two hours, and this time to the clock. It does so
   * only if the bound on the disk covers all numbers that were assigned, so that no number is assigned twice.
   */
  latest = 0
  hostRun: HostRun | undefined
  violation: Violation | undefined
  readonly trace: (line: () => string) => void
  readonly #steps: StepNumbers[] = []
  #names = 0
  #hostRuns = 0

  constructor(
    plan: Plan,
    createClients: (sim: Simulation<P>) => readonly P[],
    trace?: (line: string) => void,
  ) {
    this.plan = plan
    this.trace = (line) => trace?.(line())
    const onAppend = (step: Step, at: number) => {
      this.model.append(step, at)
      this.invariants.step(step, at)
    }
    this.disk = new Disk(onAppend, (checkpoint) => this.model.checkpoint(checkpoint))
    const fail = (invariant: string, problem: string) => this.fail(invariant, problem)
    this.invariants = new Invariants(this.model, this.disk, fail, createsInAdvance(plan))
    this.changes = plan.theme === 'changes' ? new SimulatedChanges(this, this.name) : undefined
    this.past = this.changes && new PastStates()
    this.clients = createClients(this)
    this.start()
  }

  readonly fail = (invariant: string, problem: string): void => {
    this.violation ??= { invariant, problem }
  }

  /** A client has learned that one of its actions was accepted. */
  accepted(channel: Uri, seq: number, action: Action): void {
    this.changes?.accepted(channel, seq, action)
  }

  /** Returns a number that was never used before, for names. */
  readonly name = (): number => ++this.#names

  /** The wall clock in ISO format. */
  get instant(): string {
    return new Date(this.clock.wall).toISOString()
  }

  /**
   * The working directory of a new session. In the theme `decisions` it is one of two folders, so that the permission of a
   * folder covers only some sessions. In the theme `changes` all sessions work in the one simulated folder.
   */
  get directories(): readonly Uri[] | undefined {
    if (this.changes) return ['file:///a']
    if (this.plan.theme !== 'decisions') return undefined
    return [this.name() % 3 === 0 ? 'file:///b' : 'file:///a']
  }

  get up(): boolean {
    return this.hostRun?.host !== undefined
  }

  start(): void {
    this.trace(() => 'a host starts')
    this.invariants.hostStarting()
    this.latest = Math.max(this.latest, this.clock.wall, Math.ceil(this.disk.bound / 1000))
    const onReport = (event: string, detail: unknown) => {
      if (event === 'disk full') this.#checkToldFull()
      if (!expectedReports.has(event))
        this.fail('report', `${event}: ${detail instanceof Error ? detail.stack : String(detail)}`)
    }
    const agents = new SimulatedAgents(
      this.plan.seed + 7919 * ++this.#hostRuns,
      this.plan.theme,
      this.invariants,
      this.name,
    )
    agents.workplace = this.changes?.workplace
    const terminals = new SimulatedTerminals(this)
    const world = new HostRunWorld(this.clock, this.name, onReport)
    const hostRun: HostRun = { world, links: new Set(), agents, terminals }
    this.hostRun = hostRun
    const fatal = () => queueMicrotask(() => world.alive && this.crash(this.disk.durable))
    const store = this.disk.open(() => world.alive)
    const { headEvery, tail } = this.plan
    // In some runs every replay reads the store, in others memory has the newest actions.
    const limits = { ...shortLimits, recentLength: headEvery === 5 ? 1000 : 0 }
    watchEphemeral(({ channel, seq, action, origin }) =>
      this.model.addEphemeral(channel, seq, action, origin),
    )
    const captures = this.changes?.folder.open(() => world.alive)
    const inAdvance = createsInAdvance(this.plan)
    const machine = {
      habits: () => (inAdvance ? { createsInAdvance: true as const } : {}),
      agents: [agents.agent],
      terminals,
      defaultDirectory: 'file:///',
      ...(captures && { captures }),
      ...(this.changes && { otherHosts: this.changes.secondHost.marks }),
    }
    const search = indexOf(this.index, () => world.alive)
    openCore({ store, world, search, ...machine, headEvery, tail, sealLeast: 1, limits, fatal }).then(
      (core) => {
        if (!world.alive) return
        hostRun.core = core
        if (core.log.first - 1 <= (store.log.lost ?? 0))
          this.fail('L5', `numbers from ${core.log.first} are assigned again: ${store.log.lost} was lost`)
        watchSteps(core.log, this.#steps)
        this.changes?.started(core)
        hostRun.host = hostOf(core)
        if (core.log.diskFull) return
        this.invariants.hostStarted()
        this.#checkShellsEnded()
      },
      (error: unknown) => {
        // A host may refuse to start on a failing disk.
        if (this.disk.full || this.disk.broken) fatal()
        else this.fail('I11', `the host does not start: ${(error as Error).stack}`)
      },
    )
  }

  connect(link: Link): void {
    this.hostRun?.links.add(link)
    this.hostRun?.host?.connect(link.host, 'owner')
  }

  /**
   * Kills the host; does nothing if none runs. The disk keeps this many transactions, and the bound of the last flush
   * or an older one.
   */
  crash(left: number, olderBound = false): void {
    if (!this.hostRun) return
    this.trace(
      () =>
        `the host dies; ${left} of ${this.disk.transactions.length} transactions are left (${this.disk.durable} were durable)`,
    )
    this.hostRun.world.alive = false
    for (const link of [...this.hostRun.links, ...this.halfOpen]) link.hostDied()
    this.halfOpen.clear()
    this.hostRun = undefined
    this.disk.broken = false
    this.disk.crash(left, olderBound)
    const partial = partialStep(this.#steps, this.disk.transactions)
    if (partial) this.fail('L1', `of the step ${partial.step.join()} only ${partial.kept.join()} was kept`)
    this.#steps.length = 0
    this.model.rebuild(this.disk.transactions)
    this.invariants.crashed(left)
    this.unansweredCreations.clear()
    checkRecords(this)
    this.changes?.crashed(left)
    if (this.changes) checkAnnotations(this, this.changes)
  }

  /** Checks Y6: a shell ends with its host, so none runs after a restart. */
  #checkShellsEnded(): void {
    for (const uri of this.liveUris('ahp-terminal:')) {
      if (this.model.terminal(uri)?.lifecycle.status === 'running')
        this.fail('Y6', `${uri} is marked as running, but its host has died`)
    }
  }

  /** Checks L4.6: when the disk becomes full, every client whose actions wait for space is told in the same step. */
  #checkToldFull(): void {
    const { core, links } = this.hostRun ?? {}
    for (const { id, link, open } of this.clients) {
      const waits = core && core.clients.links.has(id) && core.log.uncommittedOf(id).length > 0
      if (!waits || !open || !link || !links?.has(link) || !link.hostListens) continue
      const before = link.toldFull
      queueMicrotask(() => {
        if (link.toldFull === before && link.hostListens)
          this.fail('L4', `${id} was not told that its actions wait for space`)
      })
    }
  }

  /** Whether the creation of a channel is durable. */
  isDurable(uri: Uri): boolean {
    const at = this.model.live(uri)?.created.at
    return at !== undefined && at < this.disk.durable
  }

  heldBy(toolCallId: string): Uri | undefined {
    return this.liveUris('ahp-terminal:').find((uri) => {
      const claim = this.model.terminal(uri)?.claim
      return claim?.kind === 'session' && claim.toolCallId === toolCallId
    })
  }

  /** Returns the visible channels whose URI has this prefix. Not every version has automations, and no client here uses them. */
  liveUris(prefix = ''): readonly Uri[] {
    const hidden = new Set([automationsUri, ...this.invariants.stagedChats()])
    return this.model.liveUris(prefix).filter((uri) => !hidden.has(uri))
  }
}
