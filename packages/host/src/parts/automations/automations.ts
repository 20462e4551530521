import type {
  AutomationDefinition,
  AutomationDefinitionChanges,
  AutomationEntry,
  AutomationRunSummary,
} from '@atrium/protocol/automation/state'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { Params } from '@atrium/protocol/commands'
import { AhpError } from '@atrium/protocol/errors'
import { automationsUri } from '@atrium/protocol/uri'
import { wakeIfSound } from '../../channels/wake.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { Core } from '../../kernel/core.ts'
import { defineKey } from '../../kernel/key.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { Catalogue } from './catalogue.ts'
import { Clock } from './due-clock.ts'
import { accepted, changed } from './definition.ts'
import { isActive } from './lifecycle.ts'
import { normalized } from './event-types.ts'
import { Events } from './events.ts'
import { Runs, summaryOf } from './runs.ts'
import { cursorsFor } from './schedules.ts'
import { notePrefix } from './stored.ts'
import type { MissNote } from './stored.ts'

/** The number of manual runs whose requests are remembered, and of runs in a page of the history. */
const rememberedRequests = 100
const pageOfRuns = 20

/** The automations of a host: what clients ask for, what is due, and the runs. */
export class Automations {
  readonly #core: Core
  readonly catalogue: Catalogue
  readonly runs: Runs
  readonly clock: Clock
  readonly events: Events

  private constructor(core: Core, catalogue: Catalogue) {
    this.#core = core
    this.catalogue = catalogue
    this.runs = new Runs(core, catalogue)
    this.clock = new Clock(core, catalogue, this.runs)
    this.events = new Events(core, catalogue, this.runs)
    this.clock.ticked = () => this.events.tick()
  }

  static async open(core: Core): Promise<Automations> {
    return new Automations(core, await Catalogue.open(core))
  }

  /** Loads the channel, or creates it. The channel stays in memory. */
  async load(): Promise<void> {
    const { log, jobs } = this.#core
    await log.wake(automationsUri)
    if (!log.channel(automationsUri)) log.create(automationsUri, 'automation', { entries: [] })
    jobs.begin(automationsUri, { stop: () => this.clock.stop() })
    this.catalogue.load()
  }

  start(): void {
    this.runs
      .resume()
      .then(() => this.clock.tick())
      .catch((error: unknown) => this.#core.world.report('going on with automations failed', error))
  }

  create(resource: Uri, given: AutomationDefinition, principal: string): void {
    const before = this.catalogue.entry(resource)
    // The client has sent the request again.
    if (before) return void this.catalogue.publish(before)
    const now = this.#core.world.now()
    const definition = this.#completed(given)
    this.catalogue.keep(resource, {
      ...this.catalogue.stored(resource),
      principal,
      cursors: cursorsFor(definition, {}, now),
    })
    const createdAt = new Date(now).toISOString()
    const operations = ['update', 'remove', 'run']
    const entry = { resource, definition, runs: [], operations, createdAt, modifiedAt: createdAt }
    this.catalogue.publish(entry, { definition, ...allowance(definition) })
  }

  update(resource: Uri, changes: AutomationDefinitionChanges): void {
    // What was due until now is due by the old definition.
    const before = this.clock.settle(resource)
    if (!before) return
    const definition = this.#completed(changed(before.definition, changes))
    const stored = this.catalogue.stored(resource)
    const cursors = cursorsFor(definition, stored.cursors, this.#core.world.now())
    this.catalogue.keep(resource, { ...stored, cursors })
    const fresh = definition.enabled && !before.definition.enabled
    const isNew =
      allowance(definition).runCount !== undefined && allowance(before.definition).runCount === undefined
    this.catalogue.publish(before, { definition, ...(fresh || isNew ? allowance(definition) : {}) })
  }

  /** The automation was removed from the channel in this step. */
  removed(resource: Uri): void {
    for (const run of this.catalogue.forget(resource)) this.catalogue.dropped(run)
  }

  run({ automation, requestId }: Params<'runAutomation'>): Uri {
    if (requestId.trim() === '') throw AhpError.invalidParams('runAutomation: the requestId is empty')
    const reason = this.#core.readOnlyReason()
    if (reason !== undefined) throw AhpError.permissionDenied(reason)
    const entry = this.clock.settle(automation) ?? this.#missing(automation)
    const stored = this.catalogue.stored(automation)
    const known = stored.requests.find(([id]) => id === requestId)?.[1]
    if (known !== undefined) return known
    const active = this.runs.excludes(entry) ? entry.runs.find(isActive) : undefined
    const summary = active ?? this.runs.create(automation, { kind: 'manual' })
    const requests = [[requestId, summary.resource] as const, ...stored.requests].slice(0, rememberedRequests)
    this.catalogue.keep(automation, { ...this.catalogue.stored(automation), requests })
    this.catalogue.publish(entry, active ? {} : { runs: [summary, ...entry.runs] })
    return summary.resource
  }

  /** Shows more runs of an automation to all clients. */
  async fetch({ automation, cursor }: Params<'fetchAutomationRuns'>): Promise<void> {
    const check = (): AutomationEntry => {
      const entry = this.catalogue.entry(automation) ?? this.#missing(automation)
      if (cursor !== undefined && cursor !== entry.runsNextCursor)
        throw AhpError.invalidParams(
          'fetchAutomationRuns: the cursor is outdated: use the newest runsNextCursor',
        )
      return entry
    }
    check()
    const wanted = this.catalogue.stored(automation).older.slice(0, pageOfRuns)
    const found: AutomationRunSummary[] = []
    for (const uri of wanted) {
      const run = await wakeIfSound(this.#core, uri)
      if (run?.is('automationRun')) found.push(summaryOf(run.head))
    }
    const entry = check()
    const { older } = this.catalogue.stored(automation)
    const more = found.filter(({ resource }) => older.includes(resource))
    if (more.length > 0) this.catalogue.extend(entry, more)
  }

  /** The notes of missed runs, the newest first. */
  async missed(automation: Uri): Promise<readonly MissNote[]> {
    if (!this.clock.settle(automation)) this.#missing(automation)
    const notes = await this.#core.records.list(notePrefix(automation))
    // The checksum of the record says that the host itself has written the text.
    return notes.map(([, text]) => JSON.parse(text) as MissNote).toReversed()
  }

  committed(channel: Channel, action: Action): void {
    if (channel.is('automation')) {
      this.clock.plan()
      this.runs.next()
    }
    if (action.type === 'root/agentsChanged') this.runs.next()
    const session = channel.is('session') ? channel.uri : catalogOf(this.#core).sessionOf(channel.uri)
    this.events.committed(channel, action)
    if (session !== undefined) this.runs.sessionChanged(session)
  }

  disposed({ uri, head: { origin } }: Channel<'session'>): void {
    this.events.disposed(uri)
    if (origin?.kind !== 'automation') return
    this.runs
      .disposed(uri, origin.run)
      .catch((error: unknown) =>
        this.#core.world.report('updating the run of a disposed session failed', error),
      )
  }

  #completed(definition: AutomationDefinition): AutomationDefinition {
    const triggers = definition.triggers.map((each) => (each.kind === 'event' ? normalized(each) : each))
    return { ...accepted(this.#core, definition), triggers }
  }

  #missing(automation: Uri): never {
    throw AhpError.notFound(`no automation ${JSON.stringify(automation.slice(0, 200))}`)
  }
}

/** A new allowance of scheduled runs, if the automation has one. */
function allowance({ disableConditions = [] }: AutomationDefinition): { readonly runCount?: number } {
  return disableConditions.some(({ kind }) => kind === 'afterRuns') ? { runCount: 0 } : {}
}

export const automationsOf = defineKey<Automations | undefined>('automations')
