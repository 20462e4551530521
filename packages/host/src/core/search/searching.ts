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
  /** Called when a chat of the session is truncated, before the truncation is committed. */
  truncating(session: Uri): void
  /** Called when an action is committed. */
  committed(channel: Channel, action: Action): void
  /** Called when the removal of a session is committed. */
  disposed(session: Uri): void
  close(): Promise<void>
}
