import type { AutomationEntry, AutomationRunOrigin } from '@atrium/protocol/automation/state'
import type { Uri } from '@atrium/protocol/channel'
import type { Core } from '../../kernel/core.ts'
import { afterDate, afterRuns } from './catalogue.ts'
import type { Catalogue } from './catalogue.ts'
import { evaluate, lateMs } from './due-or-missed.ts'
import type { Evaluation, MissReason } from './due-or-missed.ts'
import type { Runs } from './runs.ts'
import { scheduleOf, scheduleTriggers } from './schedules.ts'

/** A long timer sleeps with the machine, so the clock of the wall is looked at this often. */
const wakeMs = 60_000

/** The time after which a full disk is looked at again. */
const retryMs = 5000

/**
 * Evaluates due instants. Each becomes a run or a note of a missed run, in the transaction that moves the cursor past it: so
 * a crash loses none and repeats none.
 */
export class Clock {
  readonly #core: Core
  readonly #catalogue: Catalogue
  readonly #runs: Runs
  /** When this host was opened. */
  readonly #since: number
  #seen: number
  /** The last time of which nothing is known, because the clock has jumped over it. */
  #jump: { readonly from: number; readonly to: number } | undefined
  /** Since when nothing can be stored. */
  #unwritable: number | undefined
  #outage: { readonly from: number; readonly to: number } | undefined
  #planned = Infinity
  #cancel = () => {}

  /** Called at each look at the clock. */
  ticked: () => void = () => {}

  constructor(core: Core, catalogue: Catalogue, runs: Runs) {
    this.#core = core
    this.#catalogue = catalogue
    this.#runs = runs
    this.#since = core.world.now()
    this.#seen = this.#since
  }

  /** Looks at the clock now, and plans the next look. */
  tick(): void {
    const now = this.#core.world.now()
    this.#notice(now)
    if (this.#unwritable === undefined) {
      for (const uri of this.#catalogue.dueBy(now)) this.#settle(uri, now, false)
      this.#runs.checkTime()
      this.ticked()
    }
    this.plan()
  }

  /** Plans the next look. It is called after each change of an automation. */
  plan(): void {
    const now = this.#core.world.now()
    const wait = Math.min(this.#catalogue.firstDue - now, wakeMs)
    const at = now + Math.max(this.#unwritable === undefined ? 0 : retryMs, wait)
    this.#cancel()
    this.#planned = at
    this.#cancel = this.#core.jobs.stopping ? () => {} : this.#core.world.later(at - now, () => this.tick())
  }

  stop(): void {
    this.#cancel()
  }

  /** Evaluates an automation up to now, or up to the date at which it ends. Returns its entry afterwards. */
  settle(uri: Uri): AutomationEntry | undefined {
    return this.#settle(uri, this.#core.world.now(), true)
  }

  /** `whole`: also if that takes long. Otherwise the next look goes on. */
  #settle(uri: Uri, now: number, whole: boolean): AutomationEntry | undefined {
    const before = this.#catalogue.entry(uri)
    if (!before || this.#core.readOnlyReason() !== undefined) return before
    const { enabled } = before.definition
    const ends = enabled ? (afterDate(before.definition) ?? Infinity) : Infinity
    let entry = before
    let more = false
    for (const { id, misfirePolicy } of scheduleTriggers(before.definition)) {
      const upTo = Math.min(now, ends)
      do {
        more = this.#evaluate(entry, id, { now, upTo, catchesUp: misfirePolicy !== 'skip' })
        entry = this.#catalogue.entry(uri) ?? entry
      } while (more && whole)
      if (more) return entry
    }
    return ends <= now ? this.#disable(entry) : entry
  }

  #evaluate(
    entry: AutomationEntry,
    triggerId: string,
    { now, upTo, catchesUp }: { readonly now: number; readonly upTo: number; readonly catchesUp: boolean },
  ): boolean {
    const { resource: uri, definition } = entry
    const stored = this.#catalogue.stored(uri)
    const cursor = stored.cursors[triggerId]
    const schedule = cursor && scheduleOf(cursor)
    if (!cursor || !schedule) return false
    const evaluation = evaluate(schedule, cursor.upTo, {
      now,
      upTo,
      catchesUp,
      enabled: definition.enabled,
      busy: this.#runs.excludes(entry),
      lateBecause: (instant) => this.#lateBecause(instant),
    })
    if (evaluation.cursor === cursor.upTo) return false
    const moved = { ...cursor, upTo: evaluation.cursor }
    this.#catalogue.keep(uri, { ...stored, cursors: { ...stored.cursors, [triggerId]: moved } })
    this.#record(entry, triggerId, moved, evaluation)
    return evaluation.more
  }

  /** Stores what the due instants have become. */
  #record(
    entry: AutomationEntry,
    triggerId: string,
    { expression, timeZone }: { readonly expression: string; readonly timeZone: string },
    { run, missed }: Evaluation,
  ): void {
    const { resource: uri } = entry
    const summary = run && this.#runs.create(uri, originOf(triggerId, run))
    for (const each of missed) {
      const into = summary && each.because === 'coalesced' ? { into: summary.resource } : {}
      this.#catalogue.note(uri, each, { triggerId, expression, timeZone, ...into })
    }
    if (!summary) return void this.#catalogue.publish(entry)
    const runCount = (entry.runCount ?? 0) + 1
    const published = this.#catalogue.publish(entry, { runCount, runs: [summary, ...entry.runs] })
    if (runCount >= (afterRuns(entry.definition) ?? Infinity)) this.#disable(published)
  }

  #disable(entry: AutomationEntry): AutomationEntry {
    if (!entry.definition.enabled) return entry
    return this.#catalogue.publish(entry, { definition: { ...entry.definition, enabled: false } })
  }

  /** Notices that the clock has jumped, or that nothing can be stored. */
  #notice(now: number): void {
    const expected = Number.isFinite(this.#planned) ? this.#planned : now
    if (now - expected > lateMs) this.#jump = { from: this.#seen, to: now }
    if (now < this.#seen - 1000 && this.#catalogue.size > 0)
      this.#core.world.report('the clock went back', `by ${Math.round((this.#seen - now) / 1000)} s`)
    this.#seen = now
    const isWritable = this.#core.readOnlyReason() === undefined
    if (!isWritable) this.#unwritable ??= now
    else if (this.#unwritable !== undefined) {
      this.#outage = { from: this.#unwritable, to: now }
      this.#unwritable = undefined
    }
  }

  #lateBecause(instant: number): MissReason {
    const isIn = (time: { readonly from: number; readonly to: number } | undefined) =>
      time !== undefined && instant >= time.from && instant <= time.to
    if (instant <= this.#since) return 'host away'
    if (isIn(this.#outage)) return 'unavailable'
    return isIn(this.#jump) ? 'clock jump' : 'skip'
  }
}

function originOf(
  triggerId: string,
  { scheduledFor, catchUp }: NonNullable<Evaluation['run']>,
): AutomationRunOrigin {
  const at = { scheduledFor: new Date(scheduledFor).toISOString() }
  return { kind: 'trigger', triggerId, ...at, ...(catchUp && { catchUp }) }
}
