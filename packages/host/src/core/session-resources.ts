import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'

/** Whose something is: a session's, and there a chat's where that is known. */
interface Owner {
  readonly session: Uri
  readonly chat?: Uri | undefined
}

/** The channels beside its chats that go with a session: known also while they sleep. */
export class SessionResources {
  readonly #records: Records
  readonly #owners = new Map<Uri, Owner>()

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<SessionResources> {
    const belongings = new SessionResources(records)
    for (const [key, text] of await records.list(prefix)) {
      const [session = '', chat] = text.split('\n')
      belongings.#owners.set(key.slice(prefix.length), { session, chat })
    }
    return belongings
  }

  sessionOf(uri: Uri): Uri | undefined {
    return this.#owners.get(uri)?.session
  }

  of(session: Uri): readonly Uri[] {
    return [...this.#owners].flatMap(([uri, owner]) => (owner.session === session ? [uri] : []))
  }

  ofChat(chat: Uri): readonly Uri[] {
    return [...this.#owners].flatMap(([uri, owner]) => (owner.chat === chat ? [uri] : []))
  }

  /** It goes with this session from now on; with none where none is given. */
  assign(uri: Uri, session: Uri | undefined, chat?: Uri): void {
    const owner = this.#owners.get(uri)
    if (owner?.session === session && owner?.chat === chat) return
    if (session === undefined) {
      this.#owners.delete(uri)
      this.#records.delete(`${prefix}${uri}`)
    } else {
      this.#owners.set(uri, { session, chat })
      this.#records.put(`${prefix}${uri}`, chat === undefined ? session : `${session}\n${chat}`)
    }
  }
}

const prefix = 'part/'
