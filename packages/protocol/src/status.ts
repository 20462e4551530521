import type { SessionStatus } from './common/status.ts'

export const Activity = { Idle: 1, Error: 2, InProgress: 8, InputNeeded: 24 } as const
export type Activity = (typeof Activity)[keyof typeof Activity]

export const Flag = { IsRead: 32, IsArchived: 64 } as const
export type Flag = (typeof Flag)[keyof typeof Flag]

export const activityMask = 31
/** The bit that InputNeeded has and InProgress has not. */
export const inputNeededBit = 16

export function activityOf(status: SessionStatus): number {
  return status & activityMask
}

export function withActivity(status: SessionStatus, activity: Activity): SessionStatus {
  return ((status & ~activityMask) | activity) >>> 0
}

export function hasFlag(status: SessionStatus, flag: Flag): boolean {
  return (status & flag) !== 0
}

export function withFlag(status: SessionStatus, flag: Flag, on: boolean): SessionStatus {
  return (on ? status | flag : status & ~flag) >>> 0
}
