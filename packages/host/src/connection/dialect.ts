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

/** How to speak each generation that this build can. The native one needs nothing. */
const lenses: ReadonlyMap<Version, Lens | undefined> = new Map([
  ['1.0.0', undefined],
  ['0.9.0', v09],
])

export const supportedVersions: readonly Version[] = [...lenses.keys()]

/**
 * How one link speaks: in its generation of the protocol, and with the names for channels that it uses itself. What is
 * said in the same way to many is made once.
 */
export class Dialect {
  readonly #core: Core
  #lens: Lens | undefined
  /** Channels that this client calls by another name, as JSON. */
  readonly #labels = new Map<Uri, string>()

  constructor(core: Core) {
    this.#core = core
  }

  useVersion(version: Version): void {
    this.#lens = lenses.get(version)
  }

  /** The channel that a name means. Some clients make up their own for the default chat of a session. */
  canonicalUri(name: Uri): Uri {
    const { catalog, log } = this.#core
    if (log.channel(name) || catalog.get(name) || catalog.sessionOf(name)) return name
    return catalog.defaultChatNamed(name) ?? name
  }

  /** From now on a channel is called as its subscriber calls it. */
  setAlias(uri: Uri, name: Uri): void {
    if (name === uri) this.#labels.delete(uri)
    else this.#labels.set(uri, JSON.stringify(name))
  }

  knows(method: string): boolean {
    return this.#lens?.knows(method) ?? true
  }

  fromClient(channel: Channel, action: Action): Action {
    return this.#lens ? this.#lens.actionUp(kindOf(channel), action) : action
  }

  params(method: string, params: unknown): unknown {
    const up = this.#lens ? this.#lens.paramsUp(method, params as object) : params
    const { channel, chat, source } = (up ?? {}) as { channel?: Uri; chat?: Uri; source?: { chat?: unknown } }
    const from = source?.chat
    return {
      ...(up as object),
      ...(channel !== undefined && { channel: this.canonicalUri(channel) }),
      ...(chat !== undefined && { chat: this.canonicalUri(chat) }),
      // Of a kind that nobody knows it may be anything.
      ...(typeof from === 'string' && { source: { ...source, chat: this.canonicalUri(from) } }),
    }
  }

  result(method: string, result: unknown): unknown {
    return this.#lens ? this.#lens.resultDown(method, result) : result
  }

  snapshot(channel: Channel, view: View): string {
    const label = this.#labels.get(channel.uri)
    return snapshotText(this.#core, channel, view, { label, lens: this.#lens })
  }

  /** How many turns are older than those that a snapshot shows. */
  leftOut(channel: Channel, view: View): number {
    return turnsLeftOut(this.#core, channel, view, this.#lens)
  }

  /** An envelope as this link is told it, as JSON: none where its generation has no words for it. */
  envelopes(channel: Channel, said: EnvelopeParts, own: boolean): readonly string[] {
    const label = this.#labels.get(channel.uri) ?? channel.label
    if (!this.#lens || own) return [envelopeText(label, said)]
    const action = JSON.parse(said.text) as Action
    return lowered(this.#lens, kindOf(channel), action, said).map((parts) => envelopeText(label, parts))
  }

  /** The frames that tell an entry. Whoever dispatched it gets it back in its own words. */
  frames(entry: Entry, own: boolean): readonly Uint8Array[] {
    const label = this.#labels.get(entry.channel)
    const lens = own || entry.reason !== undefined ? undefined : this.#lens
    if (label === undefined) return lens ? sharedFrames(lens, entry) : [entry.frame]
    const all = lens ? lowered(lens, entry.kind, entry.action, entry) : [entry]
    return all.map((parts) => actionFrame(envelopeText(label, parts)))
  }

  /** A message that is no action; nothing where there is nothing left to say. */
  notification(method: string, params: object): string | undefined {
    if (!this.knows(method)) return undefined
    const said = this.#lens ? sharedNote(this.#lens, method, params) : params
    if (!said) return undefined
    const text = noteTexts.get(said) ?? JSON.stringify({ jsonrpc: '2.0', method, params: said })
    noteTexts.set(said, text)
    return text
  }
}

function kindOf({ kind }: Channel): KindName {
  return kind.name as KindName
}

/** An action in the words of an older generation. The first says whose it was; all have numbers of the one's own. */
function lowered(lens: Lens, kind: string, action: Action, said: EnvelopeParts): readonly EnvelopeParts[] {
  const actions = lens.actionDown(kind as KindName, action)
  if (actions.length === 1 && actions[0] === action) return [said]
  return actions.map((each, at) => ({
    seq: said.seq + at,
    text: JSON.stringify(each),
    origin: at === 0 ? said.origin : undefined,
  }))
}

/** The same bytes for every link of a generation. */
function sharedFrames(lens: Lens, entry: Entry): readonly Uint8Array[] {
  const made = framesOf.get(entry)
  if (made?.lens === lens) return made.frames
  const parts = lowered(lens, entry.kind, entry.action, entry)
  const frames =
    parts[0] === entry ? [entry.frame] : parts.map((each) => actionFrame(envelopeText(entry.label, each)))
  framesOf.set(entry, { lens, frames })
  return frames
}

function sharedNote(lens: Lens, method: string, params: object): object | undefined {
  const made = notesOf.get(params)
  if (made?.lens === lens) return made.said
  const said = lens.notificationDown(method, params)
  notesOf.set(params, { lens, said })
  return said
}

const framesOf = new WeakMap<Entry, { lens: Lens; frames: readonly Uint8Array[] }>()
const notesOf = new WeakMap<object, { lens: Lens; said: object | undefined }>()
const noteTexts = new WeakMap<object, string>()
