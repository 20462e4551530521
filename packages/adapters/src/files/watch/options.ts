import type { LimitValues } from '@atrium/protocol/limits'
import type { Changes } from './change-window.ts'
import type { Means } from './notify-backend.ts'

/** What a watch goes by; only tests have others than the usual. */
export interface Terms {
  readonly means: Means
  readonly limits: WatchLimits
  readonly pace: Pace
}

export type WatchLimits = Pick<LimitValues, 'watchChanges' | 'watchDirectories' | 'watchNames'>

export interface Pace {
  /** What is heard within so many milliseconds is told together. */
  readonly windowMs: number
  /** So often is looked at what the system does not tell of. */
  readonly beatMs: number
  /** So often is looked whether what was deleted has come back. */
  readonly absentMs: number
}

export const usualPace: Pace = { windowMs: 50, beatMs: 2000, absentMs: 200 }

/** A tree, or one file. */
export interface Watched {
  /** Finds out what has changed; false where it is itself gone, or another. */
  settle(changes: Changes): Promise<boolean>
  end(): void
}
