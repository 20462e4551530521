import type { Action, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import { rebuild } from '@atrium/protocol/versions/lens'
import type { Lens } from '@atrium/protocol/versions/lens'
import { v09 } from '@atrium/protocol/versions/steps/v0-9'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { actionFrame, envelopeText } from '../log/entry.ts'
import type { Entry, EnvelopeParts } from '../log/entry.ts'
import { turnsLeftOut, snapshotText } from '../channels/snapshot.ts'
import type { View } from '../channels/snapshot.ts'
import { mapUris, mayNameSession } from '../aliases/uris.ts'
import { SessionNames } from './session-names.ts'

/** The lens of each protocol version that this build supports. The native version needs no lens. */
const lenses: ReadonlyMap<Version, Lens | undefined> = new Map([
  ['1.0.0', undefined],
  ['0.9.0', v09],
])

/** The members of params that name channels. */
interface NamedChannels {
  readonly channel?: Uri
  readonly chat?: Uri
  readonly source?: { readonly chat?: unknown }
}

export const supportedVersions: readonly Version[] = [...lenses.keys()]

/**
 * Translates between the host and one client: to the client's protocol version, and to the names that the client uses for
 * channels. A message that several clients get in the same form is made once.
 */
export class Dialect {
  readonly #core: Core
  #lens: Lens | undefined
  /** The names that the client has made up for channels, as JSON. */
  readonly #madeUp = new Map<Uri, string>()
  /** The names of sessions. */
  readonly names: SessionNames
  readonly #namesChanged: () => void

  /** `namesChanged` is called when the client has used another name for a session. */
  constructor(core: Core, namesChanged: () => void) {
    this.#core = core
    this.names = new SessionNames(core)
    this.#namesChanged = namesChanged
  }

  useVersion(version: Version): void {
    this.#lens = lenses.get(version)
  }

  /** Returns the URI of the channel that the client has named, and remembers the name for messages to the client. */
  canonicalUri(name: Uri): Uri {
    const uri = this.#resolved(name)
    if (this.names.used(name, uri)) this.#namesChanged()
    return uri
  }

  /** From now on, calls the channel by the client's own name in messages to this client. */
  setAlias(uri: Uri, name: Uri): void {
    if (name === this.names.shown(uri)) this.#madeUp.delete(uri)
    else this.#madeUp.set(uri, JSON.stringify(name))
  }

  knows(method: string): boolean {
    return this.#lens?.knows(method) ?? true
  }

  fromClient(_: Channel, action: Action): Action {
    return this.#withoutAliases(action)
  }

  /** Returns the params of a request in the native version, with canonical URIs in place of the client's names. */
  params(method: string, given: unknown): object {
    // Params are always an object, and the schema of the method has checked the members that are read here.
    const params = given as NamedChannels
    const native: NamedChannels = this.#lens ? this.#lens.paramsUp(method, params) : params
    const { channel, chat, source } = native
    const from = source?.chat
    return this.#withoutAliases({
      ...native,
      ...(channel !== undefined && { channel: this.canonicalUri(channel) }),
      ...(chat !== undefined && { chat: this.canonicalUri(chat) }),
      // A source of an unknown kind may have a member `chat` of any type.
      ...(typeof from === 'string' && { source: { ...source, chat: this.canonicalUri(from) } }),
    })
  }

  result(method: string, result: unknown): unknown {
    const shown = isPlain(result) ? this.names.down(result) : result
    return this.#lens ? this.#lens.resultDown(method, shown) : shown
  }

  snapshot(channel: Channel, view: View): string {
    const text = snapshotText(this.#core, channel, view, { label: this.#label(channel), lens: this.#lens })
    return this.#shownText(text)
  }

  /** The number of a chat's turns that are too old for the snapshot of a view. */
  leftOut(channel: Channel, view: View): number {
    return turnsLeftOut(this.#core, channel, view, this.#lens)
  }

  /** The envelopes of an action as JSON. There are none if the client's version has no such action. */
  envelopes(channel: Channel, parts: EnvelopeParts, own: boolean): readonly string[] {
    const label = this.#label(channel)
    const lens = own ? undefined : this.#lens
    const all = lens ? translated(lens, channel.kindName, JSON.parse(parts.text) as Action, parts) : [parts]
    return all.map((each) => envelopeText(label, this.#shownParts(each)))
  }

  /** The frames of an entry. An entry that the client itself dispatched is echoed as the client sent it. */
  frames(entry: Entry, own: boolean): readonly Uint8Array[] {
    const lens = own || entry.reason !== undefined ? undefined : this.#lens
    const { usesAliases, usual } = this.names
    const madeUp = this.#madeUp.has(entry.channel)
    const makeFrames = () => {
      const all = lens ? translated(lens, entry.kind, entry.action, entry) : [entry]
      if (!usesAliases && !madeUp && all[0] === entry) return [entry.frame]
      const label = this.#label({ uri: entry.channel, label: entry.label })
      return all.map((parts) => actionFrame(envelopeText(label, this.#shownParts(parts))))
    }
    if (madeUp || (usesAliases && !usual)) return makeFrames()
    return lens || usesAliases
      ? sharedFrames(entry, { lens, aliases: usesAliases }, makeFrames)
      : [entry.frame]
  }

  /** A notification as JSON; undefined if the client's version has no such notification. */
  notification(method: string, params: object): string | undefined {
    // AHP reserves the prefix for extensions, in every version. A client ignores those that it does not know.
    if (!method.startsWith('x-') && !this.knows(method)) return undefined
    const native = this.#lens ? sharedNotification(this.#lens, method, params) : params
    const translatedParams = native && this.names.down(native)
    if (!translatedParams) return undefined
    const text =
      notificationTexts.get(translatedParams) ??
      JSON.stringify({ jsonrpc: '2.0', method, params: translatedParams })
    notificationTexts.set(translatedParams, text)
    return text
  }

  /** Returns the URI of the channel that a client has named: by the URI, by an alias, or by a name that the client made up. */
  #resolved(name: Uri): Uri {
    const { aliases, catalog, log } = this.#core
    if (log.channel(name) || catalog.get(name) || catalog.sessionOf(name)) return name
    return catalog.defaultChatNamed(name) ?? aliases.resolve(name) ?? name
  }

  /** Replaces aliases of sessions. A name that the client has made up stays: the client must find it again in its own action. */
  #withoutAliases<T>(value: T): T {
    const { aliases, catalog } = this.#core
    const canonical = (name: Uri) => (catalog.get(name) ? name : (aliases.canonical(name) ?? name))
    // The replacement changes no type: a URI becomes another URI.
    return mapUris(value, canonical) as T
  }

  /** The name of a channel for this client, as JSON. */
  #label({ uri, label }: Pick<Channel, 'uri' | 'label'>): string {
    const madeUp = this.#madeUp.get(uri)
    if (madeUp !== undefined) return madeUp
    const name = this.names.shown(uri)
    return name === uri ? label : JSON.stringify(name)
  }

  #shownParts(parts: EnvelopeParts): EnvelopeParts {
    const text = this.#shownText(parts.text)
    return text === parts.text ? parts : { ...parts, text }
  }

  #shownText(text: string): string {
    if (!this.names.usesAliases || !mayNameSession(text)) return text
    return JSON.stringify(this.names.down(JSON.parse(text)))
  }
}

/** Whether a result is plain data. Other results contain text that is already in the client's form. */
function isPlain(result: unknown): boolean {
  return typeof result === 'object' && result !== null && Object.getPrototypeOf(result) === Object.prototype
}

/**
 * Translates an action into an older version, which may need several actions for it. The first of these actions carries the
 * origin. The stride of the original action has reserved a sequence number for each.
 */
function translated(
  lens: Lens,
  kind: KindName,
  action: Action,
  parts: EnvelopeParts,
): readonly EnvelopeParts[] {
  const actions = lens.actionDown(kind, action)
  if (actions === rebuild) return []
  if (actions.length === 1 && actions[0] === action) return [parts]
  return actions.map((each, at) => ({
    seq: parts.seq + at,
    text: JSON.stringify(each),
    origin: at === 0 ? parts.origin : undefined,
  }))
}

/** The form in which many clients get an entry: in one protocol version, with aliases of sessions or without. */
interface SharedForm {
  readonly lens: Lens | undefined
  readonly aliases: boolean
}

/** The frames of an entry in one form, made once for all clients that get this form. */
function sharedFrames(
  entry: Entry,
  { lens, aliases }: SharedForm,
  makeFrames: () => readonly Uint8Array[],
): readonly Uint8Array[] {
  const made = framesOf.get(entry)
  if (made && made.lens === lens && made.aliases === aliases) return made.frames
  const frames = makeFrames()
  framesOf.set(entry, { lens, aliases, frames })
  return frames
}

function sharedNotification(lens: Lens, method: string, params: object): object | undefined {
  const made = notificationsOf.get(params)
  if (made?.lens === lens) return made.params
  const older = lens.notificationDown(method, params)
  notificationsOf.set(params, { lens, params: older })
  return older
}

const framesOf = new WeakMap<Entry, SharedForm & { readonly frames: readonly Uint8Array[] }>()
const notificationsOf = new WeakMap<object, { lens: Lens; params: object | undefined }>()
const notificationTexts = new WeakMap<object, string>()
