import type { Uri } from '@atrium/protocol/channel'
import { id, natural, object, optional, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'
import type { Author, Excerpt } from '../../ports/search-index.ts'

const searchParams = {
  channel: id,
  /**
   * Terms that must all occur in one text: a word; several words in quotation marks, which must follow one another;
   * or the beginning of a word, followed by `*`.
   */
  query: string,
  /** The URI of a folder: only sessions that work in it, or in a folder below it. */
  folder: optional(id),
  /** Only sessions with this agent. */
  provider: optional(string),
  /** Only texts from this time on, or before that time. Both are ISO 8601. */
  since: optional(string),
  until: optional(string),
  /** The maximum number of texts. */
  limit: optional(natural),
  /** The `nextCursor` of the page before. */
  cursor: optional(string),
}
/** The parameters of the command `x-atrium/search`. */
export interface SearchParams extends Infer<typeof searchParams> {}
export const SearchParams = object<SearchParams>('AtriumSearchParams', searchParams)

/** A text in which all terms of a query occur. */
export interface SearchItem {
  readonly session: Uri
  /** Absent for the title of a session. */
  readonly chat?: Uri
  /** Absent for a title. */
  readonly turnId?: string
  readonly who: Author
  /** ISO 8601. */
  readonly time: string
  /** The title of the session. */
  readonly title: string
  readonly provider: string
  readonly excerpt: Excerpt
}

export interface SearchResult {
  /** The found texts, the newest first. A page may be shorter than the limit although `nextCursor` leads to more. */
  readonly items: readonly SearchItem[]
  readonly nextCursor?: string
  /** The number of sessions that have changed and are not indexed yet. Absent if there are none. */
  readonly pending?: number
}
