import { sessionOf } from '../catalog/lookup.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import type { KindName } from '@atrium/protocol/reducers'
import { isTurnAction, knows } from '@atrium/protocol/versions/known'
import { Refusal, rebuild } from '@atrium/protocol/versions/lens'
import type { Lens, LiftContext } from '@atrium/protocol/versions/lens'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'
import { actionFrame } from '../kernel/log/entry.ts'
import type { Entry, EnvelopeParts } from '../kernel/log/entry.ts'
import { turnsLeftOut, snapshotText } from '../channels/snapshot.ts'
import type { SnapshotForm } from '../channels/snapshot.ts'
import type { View } from '../kernel/link.ts'
import { envelopeOf, withoutChannel } from './envelope.ts'
import { generationOf, native, serves } from '../kernel/generation.ts'
import type { Generation } from '../kernel/generation.ts'
import { isPerViewer, lowered, loweredEntry, storedRoom } from './lowered.ts'
import type { LoweredParts } from './lowered.ts'
import { notificationText, sharedNotification } from './notification.ts'
import { primaryChat } from '../catalog/primary-chat.ts'
import { includedIn } from './primary-chat.ts'
import { SessionNames, mayNameChannel, uriIn } from './session-names.ts'
import { framesOf, loweredOf, shared } from './shared-forms.ts'

/** The members of params that name channels. */
interface NamedChannels {
  readonly channel?: unknown
  readonly chat?: unknown
  readonly source?: { readonly chat?: unknown }
}

/**
 * Translates between the host and one client: to the client's protocol version, and to the names that the client uses for
 * channels. A message that several clients get in the same form is made once.
 */
export class Dialect {
  readonly #core: Core
  #generation: Generation = native
  /** The id of the client. */
  #viewer = ''
  /** The names that the client has made up for channels, as JSON. */
  readonly #madeUp = new Map<Uri, string>()
  /** The names of sessions. */
  readonly names: SessionNames
  readonly #namesChanged: () => void

  /** `namesChanged` is called when the client uses a URI for a session that differs from the one it used before. */
  constructor(core: Core, namesChanged: () => void) {
    this.#core = core
    this.names = new SessionNames(core)
    this.#namesChanged = namesChanged
  }

  useVersion(version: Version, viewer: string): void {
    this.#generation = generationOf(version)
    this.#viewer = viewer
    this.names.useGeneration(this.#generation)
  }

  get generation(): Generation {
    return this.#generation
  }

  /** Returns the URI of the channel that the client has named, and remembers the name for messages to the client. */
  canonicalUri(name: Uri): Uri {
    const uri = this.names.canonical(name)
    if (this.names.used(name, uri)) this.#namesChanged()
    return uri
  }

  /** From now on, calls the channel by the client's own name in messages to this client. */
  setAlias(uri: Uri, name: Uri): void {
    // Up to 0.3 the name of a chat contains its session, and changes if the chat becomes the primary one or the
    // session is gone. The client keeps the name that it has used, also for the last actions of the chat.
    const { merged, nested } = this.#generation
    if (name === this.names.shown(uri) && !merged) this.#madeUp.delete(uri)
    // A client of 0.1 is always sent an alias, whatever name it has used.
    else this.#madeUp.set(uri, JSON.stringify(nested ? this.names.shown(uri) : name))
  }

  knows(method: string): boolean {
    return this.#lens?.knows(method) ?? true
  }

  /** Whether the client's version has such a channel. Up to 0.3 a chat cannot be reached under its own URI. */
  reaches({ uri, kindName }: Channel, name: Uri): boolean {
    if (this.#generation.merged && kindName === 'chat') return name !== uri
    return serves(this.#generation, kindName)
  }

  /** Returns the other channels that a subscription to a channel includes, because the client sees them as parts of the session. */
  includedWith(uri: Uri): readonly Uri[] {
    return includedIn(this.#core, this.#generation, uri)
  }

  /**
   * Returns the URI of the channel that a dispatched action changes. In versions without chats, the actions of a turn
   * name the session and change its primary chat.
   */
  targetOf(uri: Uri, { type }: Action): Uri {
    if (!this.#generation.merged || !isTurnAction(type)) return uri
    return primaryChat(this.#core, uri) ?? uri
  }

  /** Returns a dispatched action in the native version, or the reason why the client's version does not allow it. */
  fromClient(kind: KindName, action: Action, context: () => LiftContext): Action | Refusal {
    const { strict, version } = this.#generation
    if (strict && !knows(version, action.type))
      return new Refusal(`${JSON.stringify(action.type.slice(0, 100))} is not an action of AHP ${version}`)
    const given = this.#generation.nested ? withoutChannel(action) : action
    const own = this.#lens ? this.#lens.actionUp(kind, given, context()) : action
    return own instanceof Refusal ? own : this.names.up(own)
  }

  /**
   * Returns the params, which are already in the host's own protocol version, with canonical URIs in place of the client's
   * names for channels.
   */
  canonicalParams(given: unknown): object {
    // Params are always an object. A method that does not have one of these members does not check it either.
    const params = given as NamedChannels
    const { channel, chat, source } = params
    const from = source?.chat
    return this.names.up({
      ...params,
      ...(channel !== undefined && { channel: this.canonicalUri(uriIn('channel', channel)) }),
      ...(chat !== undefined && { chat: this.canonicalUri(uriIn('chat', chat)) }),
      // A source of an unknown kind may have a member `chat` of any type.
      ...(typeof from === 'string' && { source: { ...source, chat: this.canonicalUri(from) } }),
    })
  }

  result(method: string, result: unknown): unknown {
    const shown = isPlain(result) ? this.names.down(result) : result
    return this.#lens ? this.#lens.resultDown(method, shown) : shown
  }

  /** Whether the host may send a request of a method to the client. In 0.1 there is one such method. */
  mayAsk(method: string): boolean {
    return this.#generation.nested ? method === 'resourceRequest' : this.knows(method)
  }

  /** Returns the params of a request to the client. */
  request(params: object): object {
    const shown = this.names.down(params)
    if (!this.#generation.nested) return shown
    const { channel: _, ...rest }: { channel?: unknown } = { ...shown }
    return rest
  }

  /** Returns an error with the client's names for sessions. */
  error(error: unknown): unknown {
    if (!(error instanceof AhpError) || error.data === undefined || !this.names.renames) return error
    return new AhpError(error.code, error.message, this.names.down(error.data))
  }

  /** Returns a snapshot as JSON. */
  snapshot(channel: Channel, view: View): string {
    const label = this.#label(channel)
    const text = snapshotText(this.#core, channel, view, { ...this.#snapshotForm, label })
    // The client may have used another name for a chat than the present one. The state must contain the used name.
    const named = this.#generation.merged ? new Map([[channel.uri, String(JSON.parse(label))]]) : undefined
    return this.#shownText(text, named)
  }

  /** The number of a chat's turns that are too old for the snapshot of a view. */
  leftOut(channel: Channel, view: View): number {
    const session = this.#generation.merged ? sessionOf(this.#core, channel.uri) : undefined
    const includes = session && this.includedWith(session.uri).includes(channel.uri)
    return turnsLeftOut(this.#core, includes ? session : channel, view, this.#snapshotForm)
  }

  /**
   * The envelopes of a replayed action as JSON. The list is empty if the client's version has no such action. Undefined if the
   * client must get a snapshot. Throws `ContextMissing` if the older form depends on a state that is gone.
   */
  envelopes(channel: Channel, parts: EnvelopeParts, own: boolean): readonly string[] | undefined {
    const { kindName: kind } = channel
    const lens = this.#lens
    // Most actions are the same in the client's version. They need not be parsed.
    const type = typeIn(parts.text)
    const isSame = type !== undefined && lens?.leaves(type)
    const action: Action | undefined = lens && !isSame ? JSON.parse(parts.text) : undefined
    const all =
      lens && action ? lowered(lens, { kind, action, room: storedRoom(channel, action) }, parts) : [parts]
    if (all === rebuild) return undefined
    return this.#texts(channel, own && all.length === 0 ? [parts] : all)
  }

  /** Whether the client's version cannot express an entry, so that the client must reconnect and get a snapshot. */
  needsRebuild(entry: Entry): boolean {
    // A refused action, and an action that changed nothing, go back to their sender as they were sent.
    const isAnswer = entry.reason !== undefined || (entry.only !== undefined && entry.origin !== undefined)
    return this.#lens !== undefined && !isAnswer && this.#lowered(entry) === rebuild
  }

  /**
   * The frames of an entry for the client. There are none if the client must reconnect (`needsRebuild`). Otherwise a
   * client's own action is always echoed, so that the client knows its place in the order. If the client's version
   * has no action for the effect, the action is echoed as it was sent.
   */
  frames(entry: Entry, own: boolean): readonly Uint8Array[] {
    const madeUp = this.#madeUp.get(entry.channel)
    const { form } = this.names
    if (!this.#lens && form === 'uris' && madeUp === undefined) return [entry.frame]
    if (form === undefined || own || entry.reason !== undefined || this.#isPerViewer(entry))
      return this.#frames(entry, own)
    const key = `${this.#generation.version} ${form} ${madeUp ?? ''}`
    return shared(framesOf, entry, key, () => this.#frames(entry, false))
  }

  /** A notification as JSON; undefined if the client's version has no such notification. */
  notification(method: string, params: object): string | undefined {
    // AHP reserves the prefix for extensions, in every version. A client ignores those that it does not know.
    if (!method.startsWith('x-') && !this.#generation.nested && !this.knows(method)) return undefined
    const native = this.#lens ? sharedNotification(this.#lens, method, params) : params
    const translated = native && this.names.down(native)
    return translated && notificationText(this.#generation, method, translated)
  }

  get #lens(): Lens | undefined {
    return this.#generation.lens
  }

  get #snapshotForm(): SnapshotForm {
    const { lens, merged, nested, single, unpaged } = this.#generation
    return { lens, merged, unpaged, withDiffs: nested, viewer: single ? this.#viewer : undefined }
  }

  #isPerViewer(entry: Entry): boolean {
    return isPerViewer(this.#generation, entry)
  }

  #frames(entry: Entry, own: boolean): readonly Uint8Array[] {
    return this.#texts(
      { uri: entry.channel, label: entry.label, kindName: entry.kind },
      this.#parts(entry, own),
    ).map(actionFrame)
  }

  #parts(entry: Entry, own: boolean): readonly EnvelopeParts[] {
    if (!this.#lens || entry.reason !== undefined) return [entry]
    const { seq, origin } = entry
    const sent = entry.sent ? [{ seq, origin, text: JSON.stringify(entry.sent) }] : [entry]
    // An entry for its sender alone is an action that changed nothing. It is echoed as it was sent.
    if (own && entry.only) return sent
    const all = this.#lowered(entry)
    if (all === rebuild) return []
    return own && all.length === 0 ? sent : all
  }

  #lowered(entry: Entry): LoweredParts {
    const lens = this.#lens
    if (!lens) return [entry]
    const make = () => loweredEntry(lens, entry, this.#viewer)
    return this.#isPerViewer(entry) ? make() : shared(loweredOf, entry, lens.version, make)
  }

  #texts(
    channel: Pick<Channel, 'uri' | 'label' | 'kindName'>,
    all: readonly EnvelopeParts[],
  ): readonly string[] {
    const label = this.#label(channel)
    return all.map((parts) => envelopeOf(this.#generation, channel.kindName, label, this.#shownParts(parts)))
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

  #shownText(text: string, named?: ReadonlyMap<Uri, Uri>): string {
    if (!this.names.renames || !mayNameChannel(this.#generation, text)) return text
    return JSON.stringify(this.names.down(JSON.parse(text), named))
  }
}

/** The type of an action that is given as JSON. Undefined if the type is not the first member. Most clients write it first. */
function typeIn(text: string): string | undefined {
  return /^\{"type":"([^"\\]+)"/.exec(text)?.[1]
}

/** Whether a result is plain data. Other results contain text that is already in the client's form. */
function isPlain(result: unknown): boolean {
  return typeof result === 'object' && result !== null && Object.getPrototypeOf(result) === Object.prototype
}
