import type { Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { firstRootUri } from '@atrium/protocol/oracles/wire'
import { rootUri, sessionOfDefaultChat } from '@atrium/protocol/uri'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'

/** The log, as far as names depend on it. */
interface Context {
  readonly model: { session(uri: Uri, seq?: number): SessionState | undefined }
  readonly invariants: { sessionOf(chat: Uri): Uri | undefined }
}

/** The provider of the simulated agents. It is the scheme of every session at 0.1. */
const provider = 'sim'
const session = 'ahp-session:/'
const separator = '/chat/'

/**
 * The names that a client of a version has for channels (V8). Up to 0.3 a session and its primary chat (the default
 * chat, or else the first one) are one channel, and each other chat is a session of its own. At 0.1 a session has the
 * name `<provider>:/<id>`. The names are computed without the host.
 */
export class Names {
  readonly #context: Context
  /** True up to 0.3, which has no chats: a session and its primary chat are one channel. */
  readonly merged: boolean
  /** True at 0.1, where the action names its channel, and not the envelope. */
  readonly nested: boolean

  constructor(context: Context, version: Version) {
    this.#context = context
    this.merged = isBefore(version, '0.4.0')
    this.nested = isBefore(version, '0.2.0')
  }

  /**
   * Returns the channel that the client subscribes to in order to follow a channel of the log. Up to 0.3, that of a
   * primary chat is its session.
   */
  followed(uri: Uri): Uri {
    if (!this.merged) return uri
    const owner = this.#context.invariants.sessionOf(uri)
    // A chat that is in no session yet may be the default chat of a session that is not ready. It is then followed in
    // that session.
    if (owner === undefined) return sessionOfDefaultChat(uri) ?? uri
    return this.primary(owner) === uri ? owner : uri
  }

  /** Returns the chat that a client up to 0.3 sees as the session: the default chat, or else the first one. */
  primary(uri: Uri, seq = Infinity): Uri | undefined {
    const { chats = [], defaultChat }: Partial<SessionState> = this.#context.model.session(uri, seq) ?? {}
    return (chats.find(({ resource }) => resource === defaultChat) ?? chats[0])?.resource
  }

  nameOf(uri: Uri): Uri {
    const followed = this.followed(uri)
    const owner = this.merged ? this.#context.invariants.sessionOf(followed) : undefined
    if (owner === undefined) return this.#plain(followed)
    return `${this.#plain(owner)}${separator}${encodeURIComponent(followed)}`
  }

  uriOf(name: Uri): Uri {
    if (!this.merged) return name
    const at = name.lastIndexOf(separator)
    if (at >= 0) return decodeURIComponent(name.slice(at + separator.length))
    if (!this.nested) return name
    if (name === firstRootUri) return rootUri
    return name.startsWith(`${provider}:/`) ? `${session}${name.slice(provider.length + 2)}` : name
  }

  /** Replaces URIs by names in what the client sends. */
  spoken<T>(value: T): T {
    return this.merged ? (mapTexts(value, (text) => (isUri(text) ? this.nameOf(text) : text)) as T) : value
  }

  /** Replaces names by URIs in what the client has received. */
  heard<T>(value: T): T {
    return this.merged ? (mapTexts(value, (text) => this.uriOf(text)) as T) : value
  }

  /**
   * Finds a URI in a message of the host for which the client has another name. The host should have translated it. Undefined
   * if there is none.
   */
  unnamed(message: string): string | undefined {
    if (!this.merged) return undefined
    // The list `missing` is left out, because it repeats the names that the client itself has used.
    const said = message.replace(/"missing":\[[^\]]*\]/, '')
    return (this.nested ? /"ahp-(?:session|chat|root):[^" ]*"/ : /"ahp-chat:[^" ]*"/).exec(said)?.[0]
  }

  #plain(uri: Uri): Uri {
    if (!this.nested) return uri
    if (uri === rootUri) return firstRootUri
    return uri.startsWith(session) ? `${provider}:/${uri.slice(session.length)}` : uri
  }
}

function isUri(text: string): boolean {
  return /^ahp-(?:session|chat|root):\S*$/.test(text)
}

/** Replaces texts anywhere in a JSON value. The order of keys stays. */
function mapTexts(value: unknown, replaced: (text: string) => string): unknown {
  if (typeof value === 'string') return replaced(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replaced))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, replaced)]))
}
