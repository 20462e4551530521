import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import type { World } from '../../ports/world.ts'

/** What a session does, as far as it concerns a person who is elsewhere. */
export type Mood = 'needs you' | 'working' | 'idle'

export function moodOf({ status }: Pick<SessionSummary, 'status'>): Mood {
  const activity = activityOf(status)
  if (activity === Activity.InputNeeded) return 'needs you'
  return activity === Activity.InProgress ? 'working' : 'idle'
}

interface Options {
  readonly world: Pick<World, 'later'>
  readonly delayMs: number
  readonly sessions: readonly SessionSummary[]
  /** The present entry of a session. */
  readonly entryOf: (session: Uri) => SessionSummary | undefined
  /** Called when a session has needed a person, or has ended its work, for the whole delay. */
  readonly changed: (event: 'needs you' | 'ended', entry: SessionSummary) => void
}

/**
 * Notices when a session begins to need a person, and when its work ends. A change counts only if it lasts: an approval that
 * another client gives at once, or a turn that the next one follows, is nobody's business.
 */
export class SessionMoods {
  readonly #options: Options
  /**
   * The mood of each session that the next change is compared with: `working` as soon as it is seen, any other mood
   * only when it has lasted for the whole delay.
   */
  readonly #settled: Map<Uri, Mood>
  readonly #waiting = new Map<Uri, () => void>()

  constructor(options: Options) {
    this.#options = options
    this.#settled = new Map(options.sessions.map((each) => [each.resource, moodOf(each)]))
  }

  /**
   * Notes that a turn has begun. A short turn may have ended before `seen` looks at its session, and would otherwise
   * go unnoticed.
   */
  began(session: Uri): void {
    if (this.#settled.get(session) !== 'needs you') this.#settled.set(session, 'working')
  }

  /**
   * Looks at a session that may have changed. If its mood has changed and does not change back during the delay, the
   * change is reported.
   */
  seen(session: Uri): void {
    const { world, delayMs, entryOf } = this.#options
    const entry = entryOf(session)
    if (!entry) return this.forget(session)
    const mood = moodOf(entry)
    if (mood === this.#settled.get(session)) return this.#cancel(session)
    if (mood === 'working') {
      this.#cancel(session)
      return void this.#settled.set(session, mood)
    }
    if (this.#waiting.has(session)) return
    this.#waiting.set(
      session,
      world.later(delayMs, () => {
        this.#waiting.delete(session)
        this.#settle(session)
      }),
    )
  }

  forget(session: Uri): void {
    this.#cancel(session)
    this.#settled.delete(session)
  }

  close(): void {
    for (const session of this.#waiting.keys()) this.#cancel(session)
  }

  #settle(session: Uri): void {
    const { entryOf, changed } = this.#options
    const entry = entryOf(session)
    if (!entry) return
    const [before, mood] = [this.#settled.get(session), moodOf(entry)]
    this.#settled.set(session, mood)
    if (mood === 'needs you') changed('needs you', entry)
    else if (mood === 'idle' && before !== undefined && before !== 'idle') changed('ended', entry)
  }

  #cancel(session: Uri): void {
    this.#waiting.get(session)?.()
    this.#waiting.delete(session)
  }
}
