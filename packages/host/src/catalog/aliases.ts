import type { Uri } from '@atrium/protocol/channel'
import {
  annotationsUri,
  defaultChatUri,
  sessionOfAnnotations,
  sessionOfDefaultChat,
} from '@atrium/protocol/uri'
import { defineKey } from '../kernel/key.ts'
import type { Records } from '../ports/records.ts'
import { firstChat } from './uris.ts'
import type { WithChats } from './uris.ts'

/** The sessions of the host, as far as aliases depend on them. */
interface Sessions {
  get(uri: Uri): NamedSession | undefined
}

interface NamedSession extends WithChats {
  readonly provider: string
}

/**
 * The aliases of sessions. A client such as VS Code finds a session only under a URI of the form `<provider>:/<id>`. Therefore
 * a session `ahp-session:/<id>` has such a URI as its alias, and its default chat has the URI that is computed from the alias.
 * The usual alias has the id of the session and is not stored. If that URI is taken, the alias has another id and is stored.
 */
export class Aliases {
  readonly #records: Records
  readonly #sessions: Sessions
  /** The stored aliases by session, and the sessions by stored alias. */
  readonly #stored = new Map<Uri, Uri>()
  readonly #named = new Map<Uri, Uri>()
  /** The aliases of the last disposed sessions. The notification of a disposal is sent later, and names the session by its alias. */
  readonly #disposed = new Map<Uri, Uri>()

  private constructor(records: Records, sessions: Sessions) {
    this.#records = records
    this.#sessions = sessions
  }

  static async open(records: Records, sessions: Sessions): Promise<Aliases> {
    const aliases = new Aliases(records, sessions)
    for (const [key, alias] of await records.list(prefix)) aliases.#remember(key.slice(prefix.length), alias)
    return aliases
  }

  /**
   * Returns the alias of a session, of the default chat of a session, or of its annotations. Undefined if there is
   * none.
   */
  of(uri: Uri): Uri | undefined {
    const chatOf = sessionOfDefaultChat(uri)
    const owner = chatOf ?? this.#annotated(uri)
    const alias = this.#ofSession(owner ?? uri)
    if (alias === undefined || owner === undefined) return alias
    return chatOf === undefined ? annotationsUri(alias) : defaultChatUri(alias)
  }

  /**
   * Returns the session, the default chat of a session, or the annotations, that an alias stands for. Undefined if
   * the URI is no alias.
   */
  canonical(alias: Uri): Uri | undefined {
    const session = this.#sessionNamed(alias)
    return session ?? this.#defaultChatOf(sessionOfDefaultChat(alias)) ?? this.#annotationsNamed(alias)
  }

  /**
   * Does the same as `canonical`, and also accepts the name `<alias>/chat`, which some clients make up for the default chat.
   */
  resolve(name: Uri): Uri | undefined {
    return (
      this.canonical(name) ?? this.#defaultChatOf(name.endsWith(chatSuffix) ? withoutSuffix(name) : undefined)
    )
  }

  /**
   * Returns the session whose annotations have this URI. The URI of a session may look like a URI of annotations, so
   * the result is undefined if there is a session with this URI.
   */
  #annotated(uri: Uri): Uri | undefined {
    return this.#sessions.get(uri) ? undefined : sessionOfAnnotations(uri)
  }

  #annotationsNamed(name: Uri): Uri | undefined {
    const session = this.#sessionNamed(this.#annotated(name) ?? '')
    return session === undefined ? undefined : annotationsUri(session)
  }

  #defaultChatOf(alias: Uri | undefined): Uri | undefined {
    const session = alias === undefined ? undefined : this.#sessionNamed(alias)
    const entry = session === undefined ? undefined : this.#sessions.get(session)
    return session === undefined || !entry ? undefined : firstChat(session, entry)
  }

  /** Gives a session another alias than the usual one. */
  assign(session: Uri, alias: Uri): void {
    this.#records.put(`${prefix}${session}`, alias)
    this.#remember(session, alias)
  }

  /**
   * Removes the alias of a session that is disposed of. Call it before the session leaves the session list. Returns
   * the alias, which must not be used again.
   */
  forget(session: Uri): Uri | undefined {
    const alias = this.#ofSession(session)
    if (alias === undefined) return undefined
    if (this.#stored.has(session)) this.#records.delete(`${prefix}${session}`)
    this.#stored.delete(session)
    this.#named.delete(alias)
    this.rememberDisposed(session, alias)
    return alias
  }

  /** Remembers the alias of a disposed session, so that clients can still be told about the disposal. */
  rememberDisposed(session: Uri, alias: Uri): void {
    this.#disposed.set(session, alias)
    const [oldest] = this.#disposed.keys()
    if (this.#disposed.size > disposedCount && oldest !== undefined) this.#disposed.delete(oldest)
  }

  #ofSession(session: Uri): Uri | undefined {
    if (!session.startsWith(scheme)) return undefined
    const provider = this.#sessions.get(session)?.provider
    if (provider === undefined) return this.#disposed.get(session)
    const alias = this.#stored.get(session) ?? usualAlias(session, provider)
    // If the alias is the URI of another session, this session has no alias. It does not get a new one here, because
    // the host may be read-only and could not store it.
    return alias !== undefined && this.#sessions.get(alias) ? undefined : alias
  }

  #sessionNamed(name: Uri): Uri | undefined {
    const stored = this.#named.get(name)
    if (stored !== undefined) return stored
    const [, provider, id] = usualForm.exec(name) ?? []
    if (provider === undefined || id === undefined) return undefined
    const session = `${scheme}${id}`
    const isUsual = this.#sessions.get(session)?.provider === provider && !this.#stored.has(session)
    return isUsual ? session : undefined
  }

  #remember(session: Uri, alias: Uri): void {
    this.#stored.set(session, alias)
    this.#named.set(alias, session)
  }
}

/**
 * The usual alias of a session `ahp-session:/<id>`: `<provider>:/<id>`. If this URI was taken when the session was
 * created, the session has another alias, which is stored. Undefined for a session with a URI of another form, which
 * needs no alias.
 */
export function usualAlias(session: Uri, provider: string): Uri | undefined {
  return session.startsWith(scheme) ? `${provider}:/${session.slice(scheme.length)}` : undefined
}

const scheme = 'ahp-session:/'
const usualForm = /^([^/]+):\/([^/].*)$/
const prefix = 'alias/'
const chatSuffix = '/chat'
const withoutSuffix = (name: Uri) => name.slice(0, -chatSuffix.length)
/** The number of disposed sessions whose aliases are remembered. */
const disposedCount = 1000

export const aliasesOf = defineKey<Aliases>('aliases')
