import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from './record-map.ts'
import type { Records } from '../ports/records.ts'

/**
 * The sessions whose content must outlive them. The content URIs in a turn contain the session that stored the content. A
 * chat that moves takes its turns along, so the content of the session it left stays as long as the session it is in.
 */
export class ContentRetention {
  /** For each session that chats have moved to: the sessions whose content its turns may name. */
  readonly #sources: RecordMap<ReadonlySet<Uri>>

  private constructor(sources: RecordMap<ReadonlySet<Uri>>) {
    this.#sources = sources
  }

  static async open(records: Records): Promise<ContentRetention> {
    return new ContentRetention(await RecordMap.open(records, 'heir/', uriLines))
  }

  /** Returns whether another session may name the content of this one. */
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

  /** Forgets a disposed session. Returns the sessions, itself perhaps among them, whose content nothing names any more. */
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
