import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { Wire } from '@atrium/protocol/oracles/wire'
import type { Value } from '@atrium/protocol/oracles/wire'
import { isBefore } from '@atrium/protocol/versions/negotiate'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Message, Shown } from '../../message.ts'
import type { Names } from './names.ts'

/**
 * Translates the messages of a client from AHP 1.0 to its version, and those of the host back to 1.0, which the
 * checks read.
 */
export class Speech {
  readonly #version: Version
  readonly #names: Names
  readonly #wire: Wire

  constructor(version: Version, names: Names) {
    this.#version = version
    this.#wire = new Wire(version)
    this.#names = names
  }

  /** Returns the params as a client of the version sends them. */
  params(method: string, given: Value): Value {
    const { channel: uri, ...rest } = this.#names.spoken(this.#members(given))
    // A new session keeps its URI of 1.0, because the checks know sessions only by the scheme of 1.0.
    const channel = method === 'createSession' ? given['channel'] : uri
    return this.#wire.params(method, channel as Uri, rest)
  }

  /** Returns the params of a dispatch. At 0.1 the action names its session or terminal. */
  dispatch(channel: Uri, clientSeq: number, action: Action): Value {
    return this.#wire.dispatch(this.#names.nameOf(channel), clientSeq, this.#names.spoken(action))
  }

  /**
   * Returns a message of the host in the form of 1.0, with URIs in place of names. The states in it stay as they are.
   */
  heard(message: Message): Message {
    if (!this.#names.merged) return message
    const { method, params, result } = message
    if (method === 'action') return { ...message, params: this.#envelope(params as Envelope) }
    if (method === 'notification') {
      const { method: named, params: said } = this.#wire.notice(method, params as Value)
      return { ...message, method: named, params: this.#names.heard(said) }
    }
    return result ? { ...message, result: this.#result(result as Result) } : message
  }

  #members(given: Value): Value {
    const { workingDirectories, view, delivery, claim, ...rest } = given as Members
    const before = (version: Version) => isBefore(this.#version, version)
    const [directory] = workingDirectories ?? []
    const { chat: _, ...shortClaim } = claim ?? {}
    return {
      ...rest,
      ...(workingDirectories && (before('0.7.0') ? { workingDirectory: directory } : { workingDirectories })),
      ...(claim && { claim: before('0.9.0') ? shortClaim : claim }),
      ...(!before('0.5.1') && { ...(view && { view }), ...(delivery && { delivery }) }),
    }
  }

  #envelope(envelope: Envelope): Envelope {
    if (!this.#names.nested) return { ...envelope, channel: this.#names.uriOf(envelope.channel) }
    const { session: _session, terminal: _terminal, ...action }: NestedAction = envelope.action
    const channel = this.#names.uriOf(this.#wire.channelOf(envelope) ?? '')
    return { ...envelope, channel, action: this.#names.heard(action) }
  }

  #result({ snapshot, snapshots, actions, missing, items, ...rest }: Result): Result {
    const named = (each: Snapshot) => ({ ...each, resource: this.#names.uriOf(each.resource) })
    return {
      ...rest,
      ...(snapshot && { snapshot: named(snapshot) }),
      ...(snapshots && { snapshots: snapshots.map(named) }),
      ...(actions && { actions: actions.map((each) => this.#envelope(each)) }),
      ...(missing && { missing: missing.map((name) => this.#names.uriOf(name)) }),
      ...(items && { items: this.#names.heard(items) }),
    }
  }
}

interface Members extends Value {
  readonly workingDirectories?: readonly Uri[]
  readonly view?: Value
  readonly delivery?: Value
  readonly claim?: Value
}

/** An action of 0.1. It names its channel itself. */
interface NestedAction extends Action {
  readonly session?: Uri
  readonly terminal?: Uri
}

interface Result extends Shown {
  readonly items?: readonly Value[]
}
