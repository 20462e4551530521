import type { AutomationEntry, AutomationEventTrigger } from '@atrium/protocol/automation/state'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import { catalogOf } from '../../catalog/catalog.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Catalogue } from './catalogue.ts'
import { configOf, defaultMinutes } from './event-types.ts'
import type { Runs } from './runs.ts'
import type { MissNote } from './stored.ts'

const hourMs = 3_600_000

/** The events of ended turns, by the actions that end them. */
const turnEnds: ReadonlyMap<string, string> = new Map([
  ['chat/turnComplete', 'complete'],
  ['chat/error', 'error'],
  ['chat/turnCancelled', 'cancelled'],
])

/** The state of a session that a type of triggers waits for, and its event. */
const lastingStates: ReadonlyMap<string, { readonly activity: readonly number[]; readonly event: string }> =
  new Map([
    ['needsSomebody', { activity: [Activity.InputNeeded], event: 'waiting' }],
    ['agentSilent', { activity: [Activity.InProgress], event: 'silent' }],
    ['sessionIdle', { activity: [Activity.Idle, Activity.Error], event: 'idle' }],
  ])

/** Starts runs after what happens in sessions. */
export class Events {
  readonly #core: Core
  readonly #catalogue: Catalogue
  readonly #runs: Runs
  /** When something was last shown in a session, in this run of the host. */
  readonly #shown = new Map<Uri, number>()

  constructor(core: Core, catalogue: Catalogue, runs: Runs) {
    this.#core = core
    this.#catalogue = catalogue
    this.#runs = runs
  }

  /** An action is appended. The run of an event is stored in the same transaction, so that a crash loses none. */
  appended(channel: Channel, action: Action): void {
    const event = turnEnds.get(action.type)
    const session =
      event !== undefined && channel.is('chat') ? catalogOf(this.#core).sessionOf(channel.uri) : undefined
    const summary = session === undefined ? undefined : catalogOf(this.#core).get(session)
    if (event === undefined || !summary) return
    this.#each('turnEnded', (entry, trigger) => {
      if (trigger.events.some(({ id }) => id === event) && concerns(entry, trigger, summary))
        this.#fire(entry, trigger, { event, summary })
    })
  }

  committed(channel: Channel, action: Action): void {
    // The host itself says in the activity of a chat that its agent is silent.
    if (action.type === 'chat/activityChanged') return
    const session = channel.is('chat') ? catalogOf(this.#core).sessionOf(channel.uri) : undefined
    if (session !== undefined) this.#shown.set(session, this.#core.world.now())
  }

  disposed(session: Uri): void {
    this.#shown.delete(session)
  }

  /** Looks for states of sessions that have lasted for long enough. */
  tick(): void {
    const now = this.#core.world.now()
    for (const [type, { activity, event }] of lastingStates)
      this.#each(type, (entry, trigger) => {
        const lasting = (configOf(trigger).minutes ?? defaultMinutes) * 60_000
        for (const summary of catalogOf(this.#core).all) {
          const since = this.#shown.get(summary.resource) ?? Date.parse(summary.modifiedAt)
          const isDue = now - since >= lasting && since >= Date.parse(entry.createdAt)
          if (!isDue || !activity.includes(activityOf(summary.status)) || !concerns(entry, trigger, summary))
            continue
          const key = `${trigger.id} ${summary.resource}`
          const { fired } = this.#catalogue.stored(entry.resource)
          if (since <= (fired.find(([each]) => each === key)?.[1] ?? -1)) continue
          this.#remember(entry.resource, key, since)
          this.#fire(this.#catalogue.entry(entry.resource) ?? entry, trigger, { event, summary })
        }
      })
  }

  #each(type: string, use: (entry: AutomationEntry, trigger: AutomationEventTrigger) => void): void {
    if (this.#core.readOnlyReason() !== undefined) return
    for (const uri of this.#catalogue.withEvents) {
      const entry = this.#catalogue.entry(uri)
      if (!entry?.definition.enabled) continue
      for (const trigger of entry.definition.triggers)
        if (trigger.kind === 'event' && trigger.type === type)
          use(this.#catalogue.entry(uri) ?? entry, trigger)
    }
  }

  #fire(
    entry: AutomationEntry,
    trigger: AutomationEventTrigger,
    { event, summary }: { readonly event: string; readonly summary: SessionSummary },
  ): void {
    const { resource: uri } = entry
    const now = this.#core.world.now()
    const stored = this.#catalogue.stored(uri)
    const recent = stored.events.filter((at) => at > now - hourMs && at <= now)
    const tooMany = recent.length >= this.#core.limits.automationEvents
    if (tooMany || this.#runs.excludes(entry))
      return this.#miss(entry, trigger.id, tooMany ? 'too many events' : 'overlap')
    this.#catalogue.keep(uri, { ...stored, events: [...recent, now] })
    const about = { type: trigger.type, event, session: summary.resource, title: summary.title }
    const run = this.#runs.create(uri, { kind: 'trigger', triggerId: trigger.id, event: about })
    this.#catalogue.publish(entry, { runs: [run, ...entry.runs] })
  }

  #miss(entry: AutomationEntry, triggerId: string, because: MissNote['because']): void {
    this.#catalogue.noteEvent(entry.resource, triggerId, because)
    this.#catalogue.publish(entry)
  }

  /** Remembers that a state of a session has had its run. */
  #remember(uri: Uri, key: string, since: number): void {
    const stored = this.#catalogue.stored(uri)
    const others = stored.fired.filter(([each]) => each !== key).slice(0, rememberedStates - 1)
    this.#catalogue.keep(uri, { ...stored, fired: [[key, since], ...others] })
  }
}

const rememberedStates = 1000

/** Whether an event in a session is one for a trigger. A run's own sessions never wake its automation. */
function concerns(
  { resource }: AutomationEntry,
  trigger: AutomationEventTrigger,
  { origin, provider, title, workingDirectories = [] }: SessionSummary,
): boolean {
  const { folder, provider: wanted, title: part } = configOf(trigger)
  if (origin?.kind === 'automation' && origin.automation === resource) return false
  const isIn = (directory: Uri) =>
    directory === folder || directory.startsWith(`${folder?.replace(/\/$/, '')}/`)
  return (
    (wanted === undefined || wanted === provider) &&
    (part === undefined || title.includes(part)) &&
    (folder === undefined || workingDirectories.some(isIn))
  )
}
