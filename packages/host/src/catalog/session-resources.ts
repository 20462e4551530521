import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from '../kernel/record-map.ts'
import type { Records } from '../ports/records.ts'
import { defineKey } from '../kernel/key.ts'

/** The session that a channel belongs to. If the channel also belongs to one chat of that session, the chat, too. */
interface Owner {
  readonly session: Uri
  readonly chat?: Uri | undefined
}

/**
 * The channels, apart from chats, that are disposed of together with a session. They are listed here even while they
 * are not in memory.
 */
export class SessionResources {
  readonly #owners: RecordMap<Owner>

  private constructor(owners: RecordMap<Owner>) {
    this.#owners = owners
  }

  static async open(records: Records): Promise<SessionResources> {
    return new SessionResources(await RecordMap.open(records, 'part/', ownerLines))
  }

  sessionOf(uri: Uri): Uri | undefined {
    return this.#owners.get(uri)?.session
  }

  of(session: Uri): readonly Uri[] {
    return this.#owners.entries().flatMap(([uri, owner]) => (owner.session === session ? [uri] : []))
  }

  ofChat(chat: Uri): readonly Uri[] {
    return this.#owners.entries().flatMap(([uri, owner]) => (owner.chat === chat ? [uri] : []))
  }

  /** Assigns a channel to a session, or to none. */
  assign(uri: Uri, session: Uri | undefined, chat?: Uri): void {
    const owner = this.#owners.get(uri)
    if (owner?.session === session && owner?.chat === chat) return
    if (session === undefined) this.#owners.delete(uri)
    else this.#owners.set(uri, { session, chat })
  }
}

const ownerLines = {
  read(text: string): Owner {
    const [session = '', chat] = text.split('\n')
    return { session, chat }
  },
  write: ({ session, chat }: Owner): string => (chat === undefined ? session : `${session}\n${chat}`),
}

export const sessionResourcesOf = defineKey<SessionResources>('session resources')
