import type { Action, Uri } from '@atrium/protocol/channel'
import type { Channel } from '../../log/channel.ts'
import type { SearchParams, SearchResult } from './extensions.ts'

/** The search in the texts of all sessions, as the other parts of the core use it. */
export interface Searching {
  /** The number of sessions that are not up to date in the index. */
  readonly waiting: number
  find(params: SearchParams): Promise<SearchResult>
  /** Empties the index, and builds it again in the background. */
  rebuild(): Promise<void>
  /**
   * Records that a session must be indexed again, because a chat of it is truncated. Called before the truncation is
   * committed.
   */
  truncating(session: Uri): void
  /** Schedules the indexing of the texts that a committed action has changed. */
  committed(channel: Channel, action: Action): void
  /** Schedules the removal of a disposed session from the index. Called when the disposal is committed. */
  disposed(session: Uri): void
  close(): Promise<void>
}
