import type { LimitValues } from '@atrium/protocol/limits'
import type { ChangeWindow } from './change-window.ts'
import type { NotifyBackend } from './notify-backend.ts'

/** The parts of a watch that tests replace. */
export interface WatchOptions {
  readonly backend: NotifyBackend
  readonly limits: WatchLimits
  readonly timing: WatchTiming
}

export type WatchLimits = Pick<LimitValues, 'watchChanges' | 'watchDirectories' | 'watchNames'>

export interface WatchTiming {
  /** Changes within this time are reported together. */
  readonly windowMs: number
  /** The interval between two reads of a directory without events. */
  readonly pollMs: number
  /** The interval between two checks whether a deleted target exists again. */
  readonly absentMs: number
}

export const defaultTiming: WatchTiming = { windowMs: 50, pollMs: 2000, absentMs: 200 }

/** The watched path: a directory tree or one file. */
export interface WatchTarget {
  /** Adds the changes since the last call; returns false if the target was deleted or replaced by another directory. */
  collect(changes: ChangeWindow): Promise<boolean>
  close(): void
}
