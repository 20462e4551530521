import type { MissedRuns } from '@atrium/protocol/automation/timeline'
import type { Uri } from '@atrium/protocol/channel'
import type { RecordFormat } from '../../kernel/record-map.ts'
import type { MissReason } from './due-or-missed.ts'
import type { Cursors } from './schedules.ts'

/** What the host keeps about an automation and no client needs. It changes in the same step as the automation. */
export interface Stored {
  /** Who has created the automation. The sessions of its runs belong to this principal. */
  readonly principal: string
  readonly cursors: Cursors
  /** The ended runs that the catalogue does not show, the newest first. */
  readonly older: readonly Uri[]
  /** The newest manual runs, by the id of their request. */
  readonly requests: readonly (readonly [requestId: string, run: Uri])[]
  /** The number of notes of missed instants that were ever written. */
  readonly notes: number
  /** The newest note, which the next missed instants may continue. */
  readonly note?: MissNote
  /** The number of missed instants. */
  readonly missed: number
  /** The times of the runs by events in the last hour. */
  readonly events: readonly number[]
  /** The states of sessions that have had their run, by trigger and session, with the time since when each lasted. */
  readonly fired: readonly (readonly [key: string, since: number])[]
}

/** Due instants in a row without a run, as they are stored and shown. */
export interface MissNote extends MissedRuns {
  readonly because: MissReason | 'too many events'
}

export const storedFormat: RecordFormat<Stored> = {
  // The checksum of the record says that the host itself has written the text.
  read: (text) => JSON.parse(text) as Stored,
  write: (stored) => JSON.stringify(stored),
}

export const emptyStored = (principal: string): Stored => ({
  principal,
  cursors: {},
  older: [],
  requests: [],
  notes: 0,
  missed: 0,
  events: [],
  fired: [],
})

/** The key of a note. Keys of later notes come later. */
export function noteKey(automation: Uri, number: number): string {
  return `${notePrefix(automation)}${String(number).padStart(12, '0')}`
}

export function notePrefix(automation: Uri): string {
  return `automation-missed/${automation} `
}
