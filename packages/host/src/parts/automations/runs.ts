import type {
  AutomationEntry,
  AutomationRunLifecycle,
  AutomationRunOrigin,
  AutomationRunState,
  AutomationRunSummary,
} from '@atrium/protocol/automation/state'
import type { Uri } from '@atrium/protocol/channel'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { compact } from '@atrium/protocol/update'
import { automationRunUri } from '@atrium/protocol/uri'
import { unlessUnsound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import { unloaded } from '../../kernel/log/channel.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { cancelTurn } from '../chat/workers.ts'
import type { Catalogue } from './catalogue.ts'
import { isActive } from './lifecycle.ts'
import { isResumed, outcomeOf } from './outcome.ts'
import { settingsOf } from './own-settings.ts'
import { startSession } from './start-session.ts'

/** The runs of automations that have not ended. Each is a job of the host, so that its channel stays in memory. */
export class Runs {
  readonly #core: Core
  readonly #catalogue: Catalogue
  /** The runs that are creating their session. */
  readonly #starting = new Set<Uri>()
  /** The active run of each session. */
  readonly #bySession = new Map<Uri, Uri>()
  readonly #active = new Set<Uri>()

  constructor(core: Core, catalogue: Catalogue) {
    this.#core = core
    this.#catalogue = catalogue
    catalogue.dropped = (run) => {
      core.log.drop(core.log.channel(run, 'automationRun') ?? unloaded(run, 'automationRun'))
    }
  }

  /** The number of active runs of an automation. */
  count(entry: AutomationEntry): number {
    return entry.runs.filter(isActive).length
  }

  /** Whether another run of an automation keeps a due instant from starting a run. */
  excludes(entry: AutomationEntry): boolean {
    const { overlap = 'skip' } = settingsOf(entry.definition)
    return this.count(entry) >= (overlap === 'skip' ? 1 : this.#core.limits.automationActive)
  }

  /** Stores a run that waits for its session. The caller publishes the automation with its summary, in the same step. */
  create(automation: Uri, origin: AutomationRunOrigin): AutomationRunSummary {
    const resource = automationRunUri(this.#core.world.id())
    const lifecycle = { status: 'pending', createdAt: this.#now() } as const
    const state: AutomationRunState = { resource, automation, origin, lifecycle, sessions: [] }
    this.#follow(this.#core.log.create(resource, 'automationRun', state))
    return summaryOf(state)
  }

  /** Starts the runs that wait, as far as they may. */
  next(): void {
    if (this.#core.jobs.stopping || this.#core.readOnlyReason() !== undefined) return
    for (const uri of this.#active) {
      const run = this.#core.log.channel(uri, 'automationRun')
      if (!run || run.head.lifecycle.status !== 'pending' || this.#starting.has(uri) || !this.#mayStart(run))
        continue
      this.#starting.add(uri)
      void this.#start(run).catch((error: unknown) => this.#core.world.report('starting a run failed', error))
    }
  }

  /** Looks at the time limits of the runs, and tries again to start those that wait for an agent. */
  checkTime(): void {
    for (const uri of this.#active) {
      const run = this.#core.log.channel(uri, 'automationRun')
      const { lifecycle, automation } = run?.head ?? {}
      if (!run || automation === undefined || lifecycle?.status !== 'running') continue
      const entry = this.#catalogue.entry(automation)
      const minutes = entry && settingsOf(entry.definition).timeLimitMinutes
      const limit = minutes === undefined ? this.#core.limits.automationRunMs : minutes * 60_000
      if (this.#core.world.now() - Date.parse(lifecycle.startedAt) <= limit) continue
      const message = `The run took longer than ${Math.round(limit / 60_000)} min.`
      this.#end(run, failed(run, this.#now(), { errorType: 'timeLimit', message }))
    }
    this.next()
  }

  /** Something has happened in a session. Ends its run if nothing is at work there any more. */
  sessionChanged(session: Uri): void {
    const uri = this.#bySession.get(session)
    const run = uri === undefined ? undefined : this.#core.log.channel(uri, 'automationRun')
    if (!run || run.head.lifecycle.status !== 'running') return
    const outcome = outcomeOf(this.#core, session)
    if (outcome) this.#finish(run, outcome)
  }

  cancel(run: Channel<'automationRun'>): void {
    const { lifecycle } = run.head
    if (!isActive(run.head)) return
    const { createdAt } = lifecycle
    const startedAt = 'startedAt' in lifecycle ? lifecycle.startedAt : undefined
    const completedAt = this.#now()
    this.#end(
      run,
      compact<AutomationRunLifecycle>({ status: 'cancelled', createdAt, startedAt, completedAt }),
    )
  }

  /** Goes on with the runs of an earlier run of the host, whose turns are recovered already. */
  async resume(): Promise<void> {
    for (const { runs } of this.#catalogue.entries)
      for (const { resource } of runs.filter(isActive)) {
        const run = await this.#core.log.wake(resource).catch(unlessUnsound)
        if (run?.is('automationRun')) this.#follow(run)
      }
    for (const [session, uri] of this.#bySession) {
      const resumed = await isResumed(this.#core, session)
      const run = this.#core.log.channel(uri, 'automationRun')
      if (!run || resumed) continue
      const message = 'The session of the run was deleted.'
      if (resumed === undefined) this.#end(run, failed(run, this.#now(), { errorType: 'session', message }))
      else this.sessionChanged(session)
    }
    this.next()
  }

  /** The session of a run was disposed of: the run is cancelled if it has not ended, and no longer names the session. */
  async disposed(session: Uri, uri: Uri): Promise<void> {
    const run = await this.#core.log.wake(uri).catch(unlessUnsound)
    if (!run?.is('automationRun') || !run.head.sessions.includes(session)) return
    this.cancel(run)
    this.#core.log.append(run, { type: 'automationRun/sessionRemoved', session })
    this.#summarize(run)
  }

  #mayStart({ head: { automation, resource } }: Channel<'automationRun'>): boolean {
    if (this.#bySession.size + this.#starting.size >= this.#core.limits.automationRuns) return false
    const entry = this.#catalogue.entry(automation)
    if (!entry) return false
    if ((settingsOf(entry.definition).overlap ?? 'skip') === 'parallel') return true
    // The oldest of the active runs is the one that may run.
    return entry.runs.findLast(isActive)?.resource === resource
  }

  async #start(run: Channel<'automationRun'>): Promise<void> {
    const { automation, lifecycle } = run.head
    const entry = this.#catalogue.entry(automation)
    try {
      if (!entry) return
      const { principal } = this.#catalogue.stored(automation)
      const problem = await startSession(this.#core, { run, entry, principal }, (session) =>
        this.#begun(run, session),
      )
      if (problem === undefined || !isActive(run.head) || this.#core.jobs.stopping) return
      const waited = this.#core.world.now() - Date.parse(lifecycle.createdAt)
      if (problem.waits && waited <= this.#core.limits.automationWaitMs) return
      this.#end(run, failed(run, this.#now(), problem.error))
    } finally {
      this.#starting.delete(run.uri)
    }
  }

  /** The session of a run is created in this step. Returns whether the run still wants it. */
  #begun(run: Channel<'automationRun'>, session: Uri): boolean {
    const { lifecycle } = run.head
    if (lifecycle.status !== 'pending') return false
    const { createdAt } = lifecycle
    this.#core.log.append(run, { type: 'automationRun/sessionSet', session })
    this.#core.log.append(run, { type: 'automationRun/primarySessionChanged', primarySession: session })
    this.#change(run, { status: 'running', createdAt, startedAt: this.#now() })
    this.#bySession.set(session, run.uri)
    return true
  }

  #finish(run: Channel<'automationRun'>, outcome: NonNullable<ReturnType<typeof outcomeOf>>): void {
    const { lifecycle } = run.head
    if (lifecycle.status !== 'running') return
    const { createdAt, startedAt } = lifecycle
    const times = { createdAt, startedAt, completedAt: this.#now() }
    this.#end(run, compact<AutomationRunLifecycle>({ ...times, ...outcome }), false)
  }

  /** Ends a run. What its sessions still do is cancelled in the same step. */
  #end(run: Channel<'automationRun'>, lifecycle: AutomationRunLifecycle, stops = true): void {
    for (const session of run.head.sessions) {
      this.#bySession.delete(session)
      const chats = stops ? (this.#core.log.channel(session, 'session')?.head.chats ?? []) : []
      for (const { resource } of chats) {
        const chat = this.#core.log.channel(resource, 'chat')
        if (chat) cancelTurn(this.#core, chat)
      }
    }
    this.#active.delete(run.uri)
    this.#core.jobs.stop(run.uri)
    this.#change(run, lifecycle)
  }

  #change(run: Channel<'automationRun'>, lifecycle: AutomationRunLifecycle): void {
    this.#core.log.append(run, { type: 'automationRun/lifecycleChanged', lifecycle })
    this.#summarize(run)
  }

  /** Shows the present state of a run in its automation. */
  #summarize(run: Channel<'automationRun'>): void {
    const entry = this.#catalogue.entry(run.head.automation)
    if (!entry) return
    const summary = summaryOf(run.head)
    const runs = entry.runs.map((each) => (each.resource === run.uri ? summary : each))
    this.#catalogue.publish(entry, { runs })
  }

  #follow(run: Channel<'automationRun'>): void {
    this.#active.add(run.uri)
    for (const session of run.head.sessions) this.#bySession.set(session, run.uri)
    this.#core.jobs.begin(run.uri, { stop: () => {} })
  }

  #now(): string {
    return new Date(this.#core.world.now()).toISOString()
  }
}

/** A run as the catalogue shows it. */
export function summaryOf({ sessions, ...run }: AutomationRunState): AutomationRunSummary {
  return { ...run, sessionCount: sessions.length }
}

function failed(
  run: Channel<'automationRun'>,
  completedAt: string,
  error: ErrorInfo,
): AutomationRunLifecycle {
  const { lifecycle } = run.head
  const startedAt = 'startedAt' in lifecycle ? lifecycle.startedAt : undefined
  const times = { createdAt: lifecycle.createdAt, startedAt, completedAt }
  return compact<AutomationRunLifecycle>({ status: 'failed', ...times, error })
}
