import { createHost } from '@atrium/host'
import type { Host } from '@atrium/host'
import type { AgentAction } from '@atrium/host/ports/agent'
import { CheckedRecords } from '@atrium/host/records'
import { dueInstants, parseSchedule } from '@atrium/protocol/automation/schedule'
import type { AutomationRunState } from '@atrium/protocol/automation/state'
import { pair } from '@atrium/protocol/rpc/pair'
import { Peer } from '@atrium/protocol/rpc/peer'
import { automationsUri, rootUri } from '@atrium/protocol/uri'
import { Chance } from '../chance.ts'
import { Disk } from '../simulate/disk.ts'
import { Clock, HostRunWorld } from '../simulate/world.ts'
import { differenceOf, instantsOf } from './due-check.ts'
import type { Note } from './due-check.ts'

const automation = 'ahp-automation:/one'
const [minuteMs, hourMs] = [60_000, 3_600_000]
/** What follows from one look at the clock takes fewer rounds of the event loop. */
const mostRounds = 2000
const expressions = ['*/20 * * * *', '0 * * * *', '30 */3 * * *', '15 9,17 * * 1-5']
const zones = ['UTC', 'Europe/Berlin', 'America/Los_Angeles']

/** One run of a host on the disk. */
interface HostRun {
  readonly world: HostRunWorld
  /** Whether the store takes what the host writes: it is the owner. */
  owns: boolean
  host?: Host
}

export interface LifeOptions {
  /** Whether the store refuses what a former owner writes. */
  readonly fenced?: boolean
}

/**
 * A random life of a host with one automation: it runs, sleeps, crashes with transactions in flight, is followed by another owner,
 * and its clock is set back. Returns what is wrong with the law (H42), if anything is.
 */
export async function live(seed: number, { fenced = true }: LifeOptions = {}): Promise<string | undefined> {
  const life = new Life(new Chance(seed), fenced)
  try {
    return await life.verdict()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    life.end()
  }
}

class Life {
  readonly #chance: Chance
  readonly #fenced: boolean
  readonly #clock = new Clock()
  readonly #disk = new Disk(() => {})
  readonly #runs: HostRun[] = []
  readonly #turns = new Set<() => void>()
  #names = 0
  #stalled = false
  /** The latest time that the clock has shown. */
  #latest = 0

  constructor(chance: Chance, fenced: boolean) {
    this.#chance = chance
    this.#fenced = fenced
  }

  async verdict(): Promise<string | undefined> {
    const chance = this.#chance
    const schedule = { expression: chance.pick(expressions) ?? '', timeZone: chance.pick(zones) ?? 'UTC' }
    const misfirePolicy = chance.oneIn(2) ? 'skip' : 'runOnce'
    const overlap = chance.pick(['skip', 'queue', 'parallel'])
    this.#clock.wall += chance.below(1440) * minuteMs
    await this.#start()
    const createdAt = this.#clock.wall
    await this.#create({
      title: 'One',
      message: { text: 'look', origin: { kind: 'automation' } },
      session: { provider: 'sim' },
      enabled: true,
      triggers: [{ kind: 'schedule', id: 't', schedule, misfirePolicy }],
      _meta: { 'x-atrium': { overlap } },
    })
    const read = parseSchedule(schedule)
    if (!read.ok) throw new Error(read.problem)
    for (let step = 0; step < 12; step++) {
      await this.#act()
      const wrong = await this.#judge(instantsOf(dueInstants(read.value, createdAt), this.#latest))
      if (wrong !== undefined) return wrong
    }
    return undefined
  }

  end(): void {
    for (const { world } of this.#runs) world.alive = false
    this.#endTurns()
  }

  async #act(): Promise<void> {
    const chance = this.#chance
    const what = chance.below(8)
    if (what < 2) await this.#pass(chance.below(6) * hourMs)
    // The machine sleeps: its timers stand still, and its clock goes on.
    else if (what === 2) this.#clock.wall += chance.below(20) * hourMs
    else if (what === 3) {
      this.#note()
      this.#clock.wall -= chance.below(5) * hourMs
      await this.#ask()
    } else if (what === 4) this.#endTurns()
    else if (what === 5) await this.#crashInFlight()
    else if (what === 6) await this.#crash(this.#disk.durable)
    else await this.#followed()
    await this.#pass(2 * minuteMs + 1000)
  }

  /** The host dies while what it has written last is on its way: any part of it arrives. */
  async #crashInFlight(): Promise<void> {
    this.#stalled = true
    await this.#pass(this.#chance.below(4) * hourMs)
    this.#stalled = false
    const { durable, transactions } = this.#disk
    await this.#crash(durable + this.#chance.below(transactions.length - durable + 1))
  }

  async #crash(left: number): Promise<void> {
    for (const { world } of this.#runs) world.alive = false
    this.#turns.clear()
    this.#disk.crash(left)
    await this.#start()
  }

  /** Another owner takes over. The former one goes on, until it notices. */
  async #followed(): Promise<void> {
    await this.#settle()
    for (const run of this.#runs) run.owns = !this.#fenced
    await this.#start()
  }

  async #start(): Promise<void> {
    const world = new HostRunWorld(
      this.#clock,
      () => ++this.#names,
      () => {},
    )
    const run: HostRun = { world, owns: true }
    this.#runs.push(run)
    const turns = this.#turns
    const info = { provider: 'sim', displayName: 'Sim', description: '', models: [] }
    void createHost({
      store: this.#disk.open(() => world.alive && run.owns),
      world,
      agents: [
        {
          info,
          resumes: true,
          async *run() {
            await new Promise<void>((resolve) => turns.add(resolve))
            yield* nothing
          },
        },
      ],
      limits: { automationHistory: 10_000, automationMisses: 100_000 },
    }).then((host) => (run.host = host))
    await this.#settle()
    if (!run.host) throw new Error('the host does not start')
  }

  #endTurns(): void {
    for (const end of this.#turns) end()
    this.#turns.clear()
  }

  /** Lets time pass while the host runs. */
  async #pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 30_000) {
      const due = this.#clock.due(Math.min(left, 30_000))
      for (const task of due) task()
      if (due.length > 0) await this.#settle()
    }
    this.#note()
  }

  /** The instants up to now count only if a host that runs could see the time. */
  #note(): void {
    this.#latest = Math.max(this.#latest, this.#clock.wall)
  }

  /** Lets everything happen that follows from what has happened. */
  async #settle(): Promise<void> {
    for (let [quiet, rounds] = [0, 0]; quiet < 3; rounds++) {
      if (rounds > mostRounds) throw new Error('the host does not come to rest')
      await new Promise((resolve) => setImmediate(resolve))
      const due = this.#clock.due(0)
      for (const task of due) task()
      const { waiting } = this.#disk
      this.#disk.answer()
      if (!this.#stalled) this.#disk.flush()
      quiet = due.length === 0 && (waiting === 0 || this.#stalled) ? quiet + 1 : 0
    }
  }

  async #create(definition: object): Promise<void> {
    const peer = await this.#client()
    const action = { type: 'automation/createRequested', resource: automation, definition }
    peer.notify('dispatchAction', { channel: automationsUri, clientSeq: 1, action })
    await this.#settle()
  }

  /** Somebody asks what was missed. The host looks at its clock before it answers. */
  async #ask(): Promise<void> {
    const peer = await this.#client()
    const answer = peer.request('x-atrium/missedRuns', { channel: automationsUri, automation })
    await this.#settle()
    await answer
  }

  async #client(): Promise<Peer> {
    const [ours, theirs] = pair()
    this.#runs.at(-1)?.host?.connect(theirs, 'owner')
    const peer = new Peer(ours, { request: () => null, notification: () => {} })
    const opening = { channel: rootUri, protocolVersions: ['1.0.0'], clientId: `client ${++this.#names}` }
    const opened = peer.request('initialize', opening)
    await this.#settle()
    await opened
    return peer
  }

  /** Compares what was due with the runs and the notes of missed ones that are durable. */
  async #judge(due: readonly number[]): Promise<string | undefined> {
    await this.#settle()
    const durable = this.#disk.transactions.slice(0, this.#disk.durable)
    const runs = durable
      .flatMap(({ step }) => step?.created ?? [])
      .filter(({ kind }) => kind === 'automationRun')
      // Only the host writes these states, in the shape of AHP.
      .map(({ state }) => (JSON.parse(state) as AutomationRunState).origin)
      .flatMap((origin) => (origin.kind === 'trigger' ? [Date.parse(origin.scheduledFor ?? '')] : []))
    const stored = new Map<string, string>()
    for (const { records } of durable)
      for (const [key, text] of records)
        if (text === undefined) stored.delete(key)
        else if (key.startsWith('automation-missed/')) stored.set(key, text)
    const records = { ...noRecords, list: async () => [...stored] }
    const notes = await new CheckedRecords(records, 'simulated', () => {}).list('automation-missed/')
    return differenceOf(
      runs,
      notes.map(([, text]) => JSON.parse(text) as Note),
      due,
    )
  }
}

const nothing: readonly AgentAction[] = []
const noRecords = { get: async () => undefined, put: () => {}, delete: () => {} }
