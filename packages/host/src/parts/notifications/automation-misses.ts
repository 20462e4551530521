import type { AutomationEntry } from '@atrium/protocol/automation/state'
import { missesOf } from '@atrium/protocol/automation/timeline'
import type { Uri } from '@atrium/protocol/channel'
import type { World } from '../../ports/world.ts'

interface Options {
  readonly world: Pick<World, 'later'>
  readonly delayMs: number
  /** Called once for all that was missed during the delay. */
  readonly missed: () => void
}

/** Misses that nobody has to know of: a person has paused the automation, or a later run stands for them. */
const wanted: ReadonlySet<string> = new Set(['disabled', 'coalesced'])

/** Notices when automations miss runs, and when runs fail before they have a session that people would be told of. */
export class AutomationMisses {
  readonly #options: Options
  /** What was seen of each automation. */
  readonly #known: Map<Uri, string>
  #cancel: (() => void) | undefined

  /** `before`: the automations at the start of the host. */
  constructor(before: readonly AutomationEntry[], options: Options) {
    this.#options = options
    this.#known = new Map(before.map((entry) => [entry.resource, troubleOf(entry)]))
  }

  seen(entry: AutomationEntry): void {
    const trouble = troubleOf(entry)
    const before = this.#known.get(entry.resource) ?? nothing
    this.#known.set(entry.resource, trouble)
    if (trouble === nothing || trouble === before) return
    this.#cancel ??= this.#options.world.later(this.#options.delayMs, () => {
      this.#cancel = undefined
      this.#options.missed()
    })
  }

  forget(automation: Uri): void {
    this.#known.delete(automation)
  }

  close(): void {
    this.#cancel?.()
  }
}

/**
 * The newest of what went wrong. It stays the same while the same misses go on, so that an automation that misses every minute
 * does not tell people every minute.
 */
function troubleOf(entry: AutomationEntry): string {
  const newest = missesOf(entry)?.newest
  const miss = newest && !wanted.has(newest.because) ? `${newest.triggerId} ${newest.from}` : ''
  const failed = entry.runs.find(
    ({ lifecycle, primarySession }) => lifecycle.status === 'failed' && primarySession === undefined,
  )
  return `${miss} ${failed?.resource ?? ''}`
}

const nothing = ' '
