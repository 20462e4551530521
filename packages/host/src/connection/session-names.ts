import type { Uri } from '@atrium/protocol/channel'
import { sessionOfDefaultChat } from '@atrium/protocol/uri'
import { mapUris } from '../aliases/uris.ts'
import type { SessionNaming } from '../core/clients.ts'
import type { Core } from '../core/core.ts'

/**
 * How one client names sessions and their default chats: by their URIs, or by their aliases. A session has the name that the
 * client itself has used. Any other session has its alias if the client prefers aliases, and otherwise the URI that its creator
 * chose.
 */
export class SessionNames {
  readonly #core: Core
  #prefersAliases = false
  /** The sessions that the client calls by the other name: by the URI if it prefers aliases, else by the alias. */
  #except = new Set<Uri>()

  constructor(core: Core) {
    this.#core = core
  }

  /** The choice of names, as it is stored in the record of the client. Undefined if the client has used no alias. */
  get naming(): SessionNaming | undefined {
    if (!this.#prefersAliases && this.#except.size === 0) return undefined
    return { aliases: this.#prefersAliases, except: [...this.#except].slice(-maxExcept) }
  }

  restore({ aliases, except }: SessionNaming): void {
    this.#prefersAliases = aliases
    this.#except = new Set(except)
  }

  /** Whether the client is sent any alias. */
  get usesAliases(): boolean {
    return this.#prefersAliases || this.#except.size > 0
  }

  /** Whether the client is sent what every other client that prefers aliases is sent. */
  get usual(): boolean {
    return this.#prefersAliases && this.#except.size === 0
  }

  /** Notes the name that the client has used for a channel. Returns whether the client's record changes by it. */
  used(name: Uri, uri: Uri): boolean {
    const session = sessionOfDefaultChat(uri) ?? uri
    if (this.#core.aliases.of(session) === undefined) return false
    const other = (name !== uri) !== this.#prefersAliases
    if (other === this.#except.has(session)) return false
    if (other) this.#except.add(session)
    else this.#except.delete(session)
    return true
  }

  /** Returns the name of a channel for this client. */
  shown(uri: Uri): Uri {
    if (!this.usesAliases) return uri
    const session = sessionOfDefaultChat(uri) ?? uri
    return this.#prefersAliases === this.#except.has(session) ? uri : (this.#core.aliases.of(uri) ?? uri)
  }

  /** Replaces URIs by the names for this client. */
  down<T>(value: T): T {
    // The replacement changes no type: a URI becomes another URI.
    return this.usesAliases ? (mapUris(value, (uri) => this.shown(uri)) as T) : value
  }
}

/** The maximum number of exceptions that a client's record keeps. */
const maxExcept = 1000
