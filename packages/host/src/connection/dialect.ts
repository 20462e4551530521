import type { Action, Uri } from '@atrium/protocol/channel'
import type { KindName } from '@atrium/protocol/reducers'
import type { Lens } from '@atrium/protocol/versions/lens'
import { v09 } from '@atrium/protocol/versions/v0-9'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { actionFrame, envelopeText } from '../log/entry.ts'
import type { Entry, EnvelopeParts } from '../log/entry.ts'
import { turnsLeftOut, snapshotText } from '../channels/snapshot.ts'
import type { View } from '../channels/snapshot.ts'

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
  /** The client's own names for channels, as JSON. */
  readonly #aliases = new Map<Uri, string>()

  constructor(core: Core) {
    this.#core = core
  }

  useVersion(version: Version): void {
    this.#lens = lenses.get(version)
  }

  /** Returns the URI of the channel that a name stands for. Some clients invent names for the default chat of a session. */
  canonicalUri(name: Uri): Uri {
    const { catalog, log } = this.#core
    if (log.channel(name) || catalog.get(name) || catalog.sessionOf(name)) return name
    return catalog.defaultChatNamed(name) ?? name
  }

  /** From now on, calls the channel by the client's own name in messages to this client. */
  setAlias(uri: Uri, name: Uri): void {
    if (name === uri) this.#aliases.delete(uri)
    else this.#aliases.set(uri, JSON.stringify(name))
  }

  knows(method: string): boolean {
    return this.#lens?.knows(method) ?? true
  }

  fromClient(channel: Channel, action: Action): Action {
    return this.#lens ? this.#lens.actionUp(channel.kindName, action) : action
  }

  /** Returns the params of a request in the native version, with canonical URIs in place of the client's names. */
  params(method: string, given: unknown): object {
    // Params are always an object, and the schema of the method has checked the members that are read here.
    const params = given as NamedChannels
    const native: NamedChannels = this.#lens ? this.#lens.paramsUp(method, params) : params
    const { channel, chat, source } = native
    const from = source?.chat
    return {
      ...native,
      ...(channel !== undefined && { channel: this.canonicalUri(channel) }),
      ...(chat !== undefined && { chat: this.canonicalUri(chat) }),
      // A source of an unknown kind may have a member `chat` of any type.
      ...(typeof from === 'string' && { source: { ...source, chat: this.canonicalUri(from) } }),
    }
  }

  result(method: string, result: unknown): unknown {
    return this.#lens ? this.#lens.resultDown(method, result) : result
  }

  snapshot(channel: Channel, view: View): string {
    const label = this.#aliases.get(channel.uri)
    return snapshotText(this.#core, channel, view, { label, lens: this.#lens })
  }

  /** The number of a chat's turns that are too old for the snapshot of a view. */
  leftOut(channel: Channel, view: View): number {
    return turnsLeftOut(this.#core, channel, view, this.#lens)
  }

  /** The envelopes of an action as JSON. There are none if the client's version has no such action. */
  envelopes(channel: Channel, parts: EnvelopeParts, own: boolean): readonly string[] {
    const label = this.#aliases.get(channel.uri) ?? channel.label
    if (!this.#lens || own) return [envelopeText(label, parts)]
    const action = JSON.parse(parts.text) as Action
    return translated(this.#lens, channel.kindName, action, parts).map((each) => envelopeText(label, each))
  }

  /** The frames of an entry. An entry that the client itself dispatched is echoed as the client sent it. */
  frames(entry: Entry, own: boolean): readonly Uint8Array[] {
    const label = this.#aliases.get(entry.channel)
    const lens = own || entry.reason !== undefined ? undefined : this.#lens
    if (label === undefined) return lens ? sharedFrames(lens, entry) : [entry.frame]
    const all = lens ? translated(lens, entry.kind, entry.action, entry) : [entry]
    return all.map((parts) => actionFrame(envelopeText(label, parts)))
  }

  /** A notification as JSON; undefined if the client's version has no such notification. */
  notification(method: string, params: object): string | undefined {
    // AHP reserves the prefix for extensions, in every version. A client ignores those that it does not know.
    if (!method.startsWith('x-') && !this.knows(method)) return undefined
    const translatedParams = this.#lens ? sharedNotification(this.#lens, method, params) : params
    if (!translatedParams) return undefined
    const text =
      notificationTexts.get(translatedParams) ??
      JSON.stringify({ jsonrpc: '2.0', method, params: translatedParams })
    notificationTexts.set(translatedParams, text)
    return text
  }
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
  if (actions.length === 1 && actions[0] === action) return [parts]
  return actions.map((each, at) => ({
    seq: parts.seq + at,
    text: JSON.stringify(each),
    origin: at === 0 ? parts.origin : undefined,
  }))
}

/** The frames of an entry for one protocol version, made once for all clients of that version. */
function sharedFrames(lens: Lens, entry: Entry): readonly Uint8Array[] {
  const made = framesOf.get(entry)
  if (made?.lens === lens) return made.frames
  const parts = translated(lens, entry.kind, entry.action, entry)
  const frames =
    parts[0] === entry ? [entry.frame] : parts.map((each) => actionFrame(envelopeText(entry.label, each)))
  framesOf.set(entry, { lens, frames })
  return frames
}

function sharedNotification(lens: Lens, method: string, params: object): object | undefined {
  const made = notificationsOf.get(params)
  if (made?.lens === lens) return made.params
  const older = lens.notificationDown(method, params)
  notificationsOf.set(params, { lens, params: older })
  return older
}

const framesOf = new WeakMap<Entry, { lens: Lens; frames: readonly Uint8Array[] }>()
const notificationsOf = new WeakMap<object, { lens: Lens; params: object | undefined }>()
const notificationTexts = new WeakMap<object, string>()
