import { aliasesOf } from '../catalog/aliases.ts'
import { catalogOf } from '../catalog/catalog.ts'
import { changesOf } from '../catalog/change-tracking.ts'
import { AhpError } from '@atrium/protocol/errors'
import type { Uri } from '@atrium/protocol/channel'
import { rootUri, sessionOfAnnotations, sessionOfDefaultChat } from '@atrium/protocol/uri'
import { mapUris, mayNameSession } from '../catalog/uris.ts'
import { parseChangesetUri } from '../catalog/changeset-uri.ts'
import type { SessionNaming } from '../kernel/clients.ts'
import type { Core } from '../kernel/core.ts'
import { native } from '../kernel/generation.ts'
import type { Generation } from '../kernel/generation.ts'
import { primaryChat } from '../catalog/primary-chat.ts'
import { chatName, chatNamed } from './primary-chat.ts'

/** The name of the root channel in 0.1. */
export const firstRootUri = 'agenthost:/root'

/**
 * How one client names sessions and their chats. A session may have an alias, a second URI of the form
 * `<provider>:/<id>`. If the client has used a name for a session, it is sent that name. For any other session it is
 * sent the alias if it prefers aliases, else the URI. In versions without chats, a session's primary chat has the
 * name of the session.
 */
export class SessionNames {
  readonly #core: Core
  #generation: Generation = native
  #prefersAliases = false
  /** The sessions that the client calls by the other name: by the URI if it prefers aliases, else by the alias. */
  #except = new Set<Uri>()

  constructor(core: Core) {
    this.#core = core
  }

  useGeneration(generation: Generation): void {
    this.#generation = generation
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

  /** Whether the client is sent another name than the URI for any channel. */
  get renames(): boolean {
    return this.#prefersAliases || this.#except.size > 0 || this.#generation.merged
  }

  /**
   * The kind of names that the client is sent. Clients with the same kind are sent the same names. Undefined if the
   * client has used the other kind of name for some sessions: then its names may differ from those of every other
   * client.
   */
  get form(): 'aliases' | 'uris' | undefined {
    if (this.#except.size > 0) return undefined
    return this.#prefersAliases ? 'aliases' : 'uris'
  }

  /**
   * Remembers which name the client has used for a channel. Returns true if this changes `naming`, which the record
   * of the client must then store.
   */
  used(name: Uri, uri: Uri): boolean {
    // In 0.1 a client can use only aliases, so there is no choice to remember.
    if (this.#generation.nested) return false
    const session = this.#sessionIn(uri)
    if (aliasesOf(this.#core).of(session) === undefined) return false
    const other = (name !== uri) !== this.#prefersAliases
    if (other === this.#except.has(session)) return false
    if (other) this.#except.add(session)
    else this.#except.delete(session)
    return true
  }

  /** Returns the name of a channel for this client. */
  shown(uri: Uri): Uri {
    if (!this.renames) return uri
    const { merged, nested } = this.#generation
    const changeset = changesOf(this.#core)?.isChangeset(uri) ? parseChangesetUri(uri) : undefined
    // In 0.1 the changeset of a session is a part of the session.
    if (nested && changeset) return this.shown(changeset.owner)
    if (changeset) return this.#renamed(uri, (owner) => this.shown(owner))
    if (nested && uri === rootUri) return firstRootUri
    const owner = merged ? catalogOf(this.#core).sessionOf(uri) : undefined
    if (owner === undefined) return this.#shownSession(uri)
    const name = this.#shownSession(owner)
    return primaryChat(this.#core, owner) === uri ? name : chatName(name, uri)
  }

  /** Returns the URI of the channel that a client has named: by the URI, by an alias, or by a name that the client made up. */
  canonical(name: Uri): Uri {
    const { log } = this.#core
    const aliases = aliasesOf(this.#core)
    const catalog = catalogOf(this.#core)
    if (log.channel(name) || catalog.get(name) || catalog.sessionOf(name)) return name
    const known = this.#ofVersion(name) ?? catalog.defaultChatNamed(name) ?? aliases.resolve(name)
    return known ?? this.#renamed(name, (owner) => this.canonical(owner))
  }

  /**
   * Replaces each alias of a session by the session's own URI, in a value that the client sent. A URI that belongs to no
   * known session is left as it is.
   */
  up<T>(value: T): T {
    const aliases = aliasesOf(this.#core)
    const catalog = catalogOf(this.#core)
    const canonical = (name: Uri) =>
      catalog.get(name) ? name : (this.#ofVersion(name) ?? aliases.canonical(name) ?? name)
    // The replacement changes no type: a URI becomes another URI.
    return mapUris(value, canonical) as T
  }

  /**
   * Replaces URIs by this client's names in a value for the client. If `named` has a name for a URI, that name is
   * used instead.
   */
  down<T>(value: T, named?: ReadonlyMap<Uri, Uri>): T {
    // The replacement changes no type: a URI becomes another URI.
    return this.renames ? (mapUris(value, (uri) => named?.get(uri) ?? this.shown(uri)) as T) : value
  }

  /** Renames the session or chat in the name of a changeset. Any other name stays. */
  #renamed(name: Uri, renamed: (owner: Uri) => Uri): Uri {
    const changeset = changesOf(this.#core) && parseChangesetUri(name)
    return changeset ? renamed(changeset.owner) + name.slice(changeset.owner.length) : name
  }

  /** Returns the URI of the channel for a name that only older versions use. Undefined if the name is not such a name. */
  #ofVersion(name: Uri): Uri | undefined {
    if (name === firstRootUri) return rootUri
    return this.#generation.merged ? this.#chatNamed(name) : undefined
  }

  /** The session that is named in the URI of its default chat or of its annotations. Other URIs are returned as they are. */
  #sessionIn(uri: Uri): Uri {
    const catalog = catalogOf(this.#core)
    return sessionOfDefaultChat(uri) ?? (catalog.get(uri) ? uri : (sessionOfAnnotations(uri) ?? uri))
  }

  #shownSession(uri: Uri): Uri {
    const session = this.#sessionIn(uri)
    return this.#prefersAliases === this.#except.has(session) ? uri : (aliasesOf(this.#core).of(uri) ?? uri)
  }

  #chatNamed(name: Uri): Uri | undefined {
    const catalog = catalogOf(this.#core)
    const aliases = aliasesOf(this.#core)
    const found = chatNamed(name)
    if (!found) return undefined
    const session = catalog.get(found.session) ? found.session : aliases.resolve(found.session)
    return session !== undefined && catalog.sessionOf(found.chat) === session ? found.chat : undefined
  }
}

/**
 * The maximum number of exceptions (see `#except`) that are stored in the record of a client. The newest are stored.
 */
const maxExcept = 1000

/** Returns the name of a channel in a member of params that no schema has checked. */
export function uriIn(member: string, value: unknown): Uri {
  if (typeof value === 'string') return value
  throw AhpError.invalidParams(
    `${member}: expected string, received ${value === null ? 'null' : typeof value}`,
  )
}

/** Whether a JSON text may contain a URI that has another name for the client. Most texts do not and need not be parsed. */
export function mayNameChannel({ merged }: Generation, text: string): boolean {
  return mayNameSession(text) || (merged && text.includes('"resource":"'))
}
