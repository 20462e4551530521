import type { Uri } from '@atrium/protocol/channel'

/** Who has written a text: a person, an agent, an agent that calls a tool, or whoever gave a session or chat its title. */
export type Author = 'user' | 'agent' | 'tool' | 'title'

/** A text that can be found. */
export interface IndexedText {
  readonly who: Author
  /** Whole milliseconds since 1970. */
  readonly time: number
  readonly text: string
}

/** The texts of a turn. They replace what the index has of the turn, so a turn without texts leaves the index. */
export interface IndexedTurn {
  readonly chat: Uri
  readonly turnId: string
  readonly texts: readonly IndexedText[]
}

/** What the index knows of a session besides its turns. */
export interface IndexedSession {
  readonly provider: string
  /** The absolute paths of its folders. */
  readonly folders: readonly string[]
  readonly title: string
  /** The time that the index gives to the titles of the session and its chats, in milliseconds since 1970. */
  readonly time: number
  /** All chats of the session. A chat that is not in the list leaves the index, unless it is in another session now. */
  readonly chats: readonly { readonly chat: Uri; readonly title: string }[]
}

/** A change of the index. */
export interface IndexChange {
  readonly session: Uri
  /** Absent: the session leaves the index with all its chats. */
  readonly entry?: IndexedSession
  /** Turns of the chats in `entry`. If a turn is there twice, the later one counts. */
  readonly turns?: readonly IndexedTurn[]
  /** Chats with the ids of all their turns. Other turns of these chats leave the index. */
  readonly kept?: readonly { readonly chat: Uri; readonly turnIds: readonly string[] }[]
  /**
   * The version of the session, present in the last of the changes that bring the index up to date with it. Absent:
   * more changes of the session must follow.
   */
  readonly version?: number
}

/** A word, or several words that follow one another. Case and accents of Latin letters do not matter. */
export interface SearchTerm {
  /** A text with at least one letter or digit. */
  readonly text: string
  /** Whether the term also finds longer words that begin with its last word. */
  readonly prefix: boolean
}

export interface SearchQuery {
  /** All of these must occur in one text. */
  readonly terms: readonly SearchTerm[]
  readonly provider?: string
  /** An absolute path. Finds sessions that have this folder, or a folder in it. */
  readonly folder?: string
  /** Milliseconds since 1970. Times are compared in whole seconds; a text at `until` is not found. */
  readonly since?: number
  readonly until?: number
  /** The maximum number of texts. */
  readonly limit: number
  /** The `next` of an earlier page: the query finds the texts that come after that page. */
  readonly before?: number
}

/** A short part of a text, in which the found words are marked. */
export interface Excerpt {
  readonly text: string
  /** The places of the found words in `text`, in order, in UTF-16 code units. */
  readonly matches: readonly { readonly start: number; readonly end: number }[]
}

export interface FoundText {
  readonly session: Uri
  /** Absent for the title of a session. */
  readonly chat?: Uri
  /** Absent for a title. */
  readonly turnId?: string
  readonly who: Author
  readonly time: number
  readonly excerpt: Excerpt
}

export interface FoundPage {
  /** The newest texts first. */
  readonly found: readonly FoundText[]
  /** The `before` of the query for the next page. Present if there may be more texts. */
  readonly next?: number
}

/**
 * An index of the texts of all sessions. It is fed after the log, and can be rebuilt from the log at any time. So it
 * need not be durable. If it loses its last changes in a crash, it also loses the new versions of the changed
 * sessions, which shows that they must be indexed again.
 */
export interface SearchIndex {
  /**
   * Begins an epoch, which is named by its first sequence number. Returns the version of each session in the index.
   * The version is 0 if the session is not indexed completely. The index remembers the last epoch in which it was
   * used. If that epoch is not in `trusted`, all versions are 0, because the log has changed without the index.
   */
  begin(epoch: number, trusted: readonly number[]): Promise<ReadonlyMap<Uri, number>>
  /** Changes the index. Rejects with `DiskFull` if there is no space. A failed change can be repeated. */
  update(change: IndexChange): Promise<void>
  find(query: SearchQuery): Promise<FoundPage>
  /** Empties the index, also if it is damaged. `begin` must follow, also if this fails. */
  clear(): Promise<void>
  close(): Promise<void>
}

/** The error of an index that cannot be read. The index must be cleared, and built again. */
export class IndexDamaged extends Error {
  override readonly name = 'IndexDamaged'
}
