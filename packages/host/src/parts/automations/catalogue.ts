import { dueAfter } from '@atrium/protocol/automation/schedule'
import type {
  AutomationDefinition,
  AutomationEntry,
  AutomationRunSummary,
} from '@atrium/protocol/automation/state'
import type { Uri } from '@atrium/protocol/channel'
import { compact } from '@atrium/protocol/update'
import { automationsUri } from '@atrium/protocol/uri'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { RecordMap } from '../../kernel/record-map.ts'
import { isActive } from './lifecycle.ts'
import type { Missed } from './due-or-missed.ts'
import { nextDue, scheduleOf } from './schedules.ts'
import { emptyStored, noteKey, storedFormat } from './stored.ts'
import type { MissNote, Stored } from './stored.ts'

/** The number of ended runs that an automation shows, until a client asks for more. */
const shownRuns = 5

/** What changes in the entry of an automation. */
export interface EntryChanges {
  readonly definition?: AutomationDefinition
  readonly runCount?: number
  readonly runs?: readonly AutomationRunSummary[]
}

/** The automations of the host: their channel, and what is stored beside it. */
export class Catalogue {
  readonly #core: Core
  readonly #stored: RecordMap<Stored>
  readonly #entries = new Map<Uri, AutomationEntry>()
  /** When each automation must be looked at next. */
  readonly #due = new Map<Uri, number>()
  readonly #withEvents = new Set<Uri>()

  private constructor(core: Core, stored: RecordMap<Stored>) {
    this.#core = core
    this.#stored = stored
  }

  static async open(core: Core): Promise<Catalogue> {
    return new Catalogue(core, await RecordMap.open(core.records, 'automation/', storedFormat))
  }

  /** Reads the entries of the channel, which is in memory now. */
  load(): void {
    for (const entry of this.channel.head.entries) {
      // A damaged record is lost. The automation goes on from now, and nothing is run twice.
      if (!this.#stored.has(entry.resource)) this.keep(entry.resource, this.stored(entry.resource))
      this.#remember(entry)
    }
  }

  get channel(): Channel<'automation'> {
    const channel = this.#core.log.channel(automationsUri, 'automation')
    if (!channel) throw new Error('the channel of the automations is not in memory')
    return channel
  }

  get entries(): readonly AutomationEntry[] {
    return [...this.#entries.values()]
  }

  /** The automations with triggers by events. */
  get withEvents(): readonly Uri[] {
    return [...this.#withEvents]
  }

  get size(): number {
    return this.#entries.size
  }

  /** The first moment at which an automation must be looked at. */
  get firstDue(): number {
    let first = Infinity
    for (const due of this.#due.values()) if (due < first) first = due
    return first
  }

  dueBy(now: number): readonly Uri[] {
    return [...this.#due].filter(([, due]) => due <= now).map(([uri]) => uri)
  }

  entry(uri: Uri): AutomationEntry | undefined {
    return this.#entries.get(uri)
  }

  stored(uri: Uri): Stored {
    return this.#stored.get(uri) ?? emptyStored('')
  }

  keep(uri: Uri, stored: Stored): void {
    this.#stored.set(uri, stored)
  }

  /** Publishes an automation after a change. What is stored beside it was changed before, in the same step. */
  publish(before: AutomationEntry, changes: EntryChanges = {}): AutomationEntry {
    const { resource: uri, createdAt } = before
    const definition = changes.definition ?? before.definition
    const runs = changes.runs ?? before.runs
    const active = runs.filter(isActive)
    const ended = runs.filter((run) => !isActive(run))
    const shown = ended.slice(0, Math.max(shownRuns, before.runs.filter((run) => !isActive(run)).length))
    const stored = this.#pruned(uri, ended.slice(shown.length), shown.length)
    const due = definition.enabled ? nextDue(stored.cursors) : undefined
    const modified = changes.definition !== undefined
    const missed = stored.note && { total: stored.missed, newest: stored.note }
    const entry = compact<AutomationEntry>({
      resource: uri,
      definition,
      nextRunAt: due === undefined ? undefined : new Date(due).toISOString(),
      runCount: changes.runCount ?? before.runCount,
      runs: [...active, ...shown],
      runsNextCursor: stored.older.length > 0 ? cursorAfter(shown, stored.older) : undefined,
      operations: active.length > 0 ? ['update', 'run'] : ['update', 'remove', 'run'],
      createdAt,
      modifiedAt: modified ? new Date(this.#core.world.now()).toISOString() : before.modifiedAt,
      _meta: missed && { 'x-atrium': { missed } },
    })
    this.#core.log.append(this.channel, { type: 'automation/set', automation: entry })
    this.#remember(entry)
    return entry
  }

  /** Shows more of the ended runs. */
  extend(before: AutomationEntry, more: readonly AutomationRunSummary[]): void {
    const shown = new Set(more.map(({ resource }) => resource))
    const stored = this.stored(before.resource)
    this.keep(before.resource, { ...stored, older: stored.older.filter((run) => !shown.has(run)) })
    const runs = [...before.runs, ...more]
    this.publish({ ...before, runs }, { runs })
  }

  /** Notes due instants that have no run. */
  note(
    uri: Uri,
    missed: Missed,
    about: Pick<MissNote, 'triggerId' | 'expression' | 'timeZone' | 'into'>,
  ): void {
    const stored = this.stored(uri)
    const { because, count } = missed
    const [from, to] = [missed.from, missed.to].map((at) => new Date(at).toISOString()) as [string, string]
    const note = compact<MissNote>({ ...about, because, from, to, count })
    this.#write(uri, stored, note)
  }

  /** Notes an event that has no run. */
  noteEvent(uri: Uri, triggerId: string, because: MissNote['because']): void {
    const at = new Date(this.#core.world.now()).toISOString()
    this.#write(uri, this.stored(uri), { triggerId, because, from: at, to: at, count: 1 })
  }

  /** Forgets an automation that was removed from the channel, in the same step. Returns its runs. */
  forget(uri: Uri): readonly Uri[] {
    const runs = this.#entries.get(uri)?.runs ?? []
    const { older, notes } = this.stored(uri)
    const oldest = Math.max(0, notes - this.#core.limits.automationMisses)
    for (let number = oldest; number < notes; number++) this.#core.records.delete(noteKey(uri, number))
    this.#stored.delete(uri)
    this.#entries.delete(uri)
    this.#due.delete(uri)
    this.#withEvents.delete(uri)
    return [...runs.map(({ resource }) => resource), ...older]
  }

  #write(uri: Uri, stored: Stored, note: MissNote): void {
    const { note: last, notes } = stored
    const joined = last && continues(last, note) && { ...last, to: note.to, count: last.count + note.count }
    const number = joined ? notes - 1 : notes
    this.#core.records.put(noteKey(uri, number), JSON.stringify(joined || note))
    const outdated = number - this.#core.limits.automationMisses
    if (!joined && outdated >= 0) this.#core.records.delete(noteKey(uri, outdated))
    const missed = stored.missed + note.count
    this.keep(uri, { ...stored, missed, notes: number + 1, note: joined || note })
  }

  /** Moves runs that are no longer shown to the older ones, and deletes the oldest. */
  #pruned(uri: Uri, left: readonly AutomationRunSummary[], shown: number): Stored {
    const stored = this.stored(uri)
    if (left.length === 0) return stored
    const all = [...left.map(({ resource }) => resource), ...stored.older]
    const kept = Math.max(0, this.#core.limits.automationHistory - shown)
    for (const run of all.slice(kept)) this.dropped(run)
    const next = { ...stored, older: all.slice(0, kept) }
    this.keep(uri, next)
    return next
  }

  /** Deletes a run. Set by the runs. */
  dropped: (run: Uri) => void = () => {}

  #remember(entry: AutomationEntry): void {
    const { resource: uri, definition, nextRunAt } = entry
    this.#entries.set(uri, entry)
    if (definition.triggers.some(({ kind }) => kind === 'event')) this.#withEvents.add(uri)
    else this.#withEvents.delete(uri)
    const until = definition.enabled ? afterDate(definition) : undefined
    const due = Math.min(nextRunAt === undefined ? Infinity : Date.parse(nextRunAt), until ?? Infinity)
    if (due === Infinity) this.#due.delete(uri)
    else this.#due.set(uri, due)
  }
}

/** Returns the time after which an automation is disabled. Undefined if it has no such condition. */
export function afterDate({ disableConditions = [] }: AutomationDefinition): number | undefined {
  const found = disableConditions.find((each) => each.kind === 'afterDate')
  return found?.kind === 'afterDate' ? Date.parse(found.date) : undefined
}

/** The number of scheduled runs after which an automation is disabled, if it has one. */
export function afterRuns({ disableConditions = [] }: AutomationDefinition): number | undefined {
  const found = disableConditions.find((each) => each.kind === 'afterRuns')
  return found?.kind === 'afterRuns' ? found.max : undefined
}

/** Whether a note is about the instants after those of another, of the same trigger and for the same reason. */
function continues(last: MissNote, note: MissNote): boolean {
  const same =
    last.triggerId === note.triggerId &&
    last.because === note.because &&
    last.expression === note.expression &&
    last.timeZone === note.timeZone
  if (!same || last.into !== undefined || note.into !== undefined) return false
  const { expression, timeZone } = note
  if (expression === undefined || timeZone === undefined) return false
  const schedule = scheduleOf({ expression, timeZone })
  // Between them there may be an instant that has a run.
  return schedule !== undefined && dueAfter(schedule, Date.parse(last.to)) === Date.parse(note.from)
}

function cursorAfter(shown: readonly AutomationRunSummary[], older: readonly Uri[]): string {
  return shown.at(-1)?.resource ?? `before ${older[0] ?? ''}`
}
