import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from '../kernel/record-map.ts'
import type { Records } from '../ports/records.ts'
import { defineKey } from '../kernel/key.ts'

/**
 * The sessions whose content must be kept after their disposal. A content URI in a turn names the session that stored the
 * content. When a chat moves, its turns move along. So the content of the session that the chat left must be kept as long as
 * the session that the chat is in now.
 */
export class ContentRetention {
  /** For each session that chats have moved to: the other sessions whose content may be named in the turns of those chats. */
  readonly #sources: RecordMap<ReadonlySet<Uri>>

  private constructor(sources: RecordMap<ReadonlySet<Uri>>) {
    this.#sources = sources
  }

  static async open(records: Records): Promise<ContentRetention> {
    return new ContentRetention(await RecordMap.open(records, 'heir/', uriLines))
  }

  /** Returns whether turns in another session may name the content of this session. */
  isRetained(session: Uri): boolean {
    return this.#sources.values().some((sources) => sources.has(session))
  }

  /** Records that a chat has moved from one session to another. */
  retain(to: Uri, from: Uri): void {
    const sources = new Set([...this.#sourcesOf(to), from, ...this.#sourcesOf(from)])
    sources.delete(to)
    if (sources.size === this.#sourcesOf(to).size) return
    this.#sources.set(to, sources)
  }

  /**
   * Forgets a disposed session. Returns the sessions whose content no turn names any more. The disposed session may be one of
   * them.
   */
  forget(session: Uri): readonly Uri[] {
    const candidates = [session, ...this.#sourcesOf(session)]
    this.#sources.delete(session)
    return candidates.filter((uri) => !this.isRetained(uri))
  }

  #sourcesOf(session: Uri): ReadonlySet<Uri> {
    return this.#sources.get(session) ?? none
  }
}

const none: ReadonlySet<Uri> = new Set()

const uriLines = {
  read: (text: string): ReadonlySet<Uri> => new Set(text.split('\n')),
  write: (uris: ReadonlySet<Uri>): string => [...uris].join('\n'),
}

export const contentRetentionOf = defineKey<ContentRetention>('content retention')
