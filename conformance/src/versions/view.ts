import type { Action, Envelope, Uri } from '@atrium/protocol/channel'
import { oracle } from '@atrium/protocol/oracles'
import { listOf, shapeOf, textOf } from '@atrium/protocol/versions/shape'
import type { Shape } from '@atrium/protocol/versions/shape'
import { Failed, check, excerpt, same } from '../kit/check.ts'
import type { Speaker } from './speaker.ts'

type Kind = 'session' | 'chat'

/**
 * A channel that the client follows: its state `start` at the sequence number `fromSeq`, and `state` after all
 * envelopes that were reduced.
 */
interface Followed {
  readonly kind: Kind
  readonly start: Shape
  readonly fromSeq: number
  state: Shape
}

/**
 * A session as one client sees it: the snapshots that it got, reduced with the reducers of its own version. The
 * conversation is the channel of the turns: up to 0.3 the session itself, since 0.4 the primary chat, which is the
 * default chat or else the first one.
 */
export class View {
  readonly speaker: Speaker
  readonly session: Uri
  /** The channel of the turns. */
  readonly conversation: Uri
  readonly #followed: Map<Uri, Followed>
  /** The number of envelopes of the link that are already reduced into the states. */
  #folded = 0

  constructor(speaker: Speaker, session: Uri, conversation: Uri, followed: Map<Uri, Followed>) {
    this.speaker = speaker
    this.session = session
    this.conversation = conversation
    this.#followed = followed
  }

  /** Subscribes to a session, and to its primary chat if the version has chats. Waits until the session is created. */
  static async open(speaker: Speaker, session: Uri, chat?: Uri): Promise<View> {
    const followed = new Map([[session, followedFrom('session', await speaker.subscribe(session))]])
    const alone = new View(speaker, session, session, followed)
    if (!speaker.has('0.4.0')) return alone
    const primary =
      chat ?? (await speaker.until('the session to have a chat', () => primaryIn(alone.state())))
    const start = followedFrom('chat', await speaker.subscribe(primary))
    return new View(speaker, session, primary, new Map([...followed, [primary, start]]))
  }

  /**
   * Returns the view of a client that has reconnected. `result` is the answer to `reconnect`: snapshots replace the
   * earlier states, and a replay continues them.
   */
  static resumed(speaker: Speaker, earlier: View, result: Shape): View {
    const { session, conversation } = earlier
    if (result['type'] === 'snapshot') {
      const snapshots = listOf(result, 'snapshots').map(shapeOf)
      const entries = earlier.channels.map((uri) => {
        const found = snapshots.find(({ resource }) => resource === uri)
        check(found !== undefined, `a snapshot of ${uri} in the result of reconnect`, result)
        return [uri, followedFrom(uri === session ? 'session' : 'chat', found)] as const
      })
      return new View(speaker, session, conversation, new Map(entries))
    }
    check(result['type'] === 'replay', 'a replay or snapshots', result)
    same('missing in the result of reconnect', [], listOf(result, 'missing'))
    // The replay is put first, because it is older than every envelope that this connection may have received by now.
    speaker.envelopes.unshift(...(listOf(result, 'actions') as readonly Envelope[]))
    const fromSeq = earlier.speaker.lastSeen
    const entries = earlier.channels.map((uri) => {
      const state = earlier.state(uri)
      const kind: Kind = uri === session ? 'session' : 'chat'
      return [uri, { kind, start: state, fromSeq, state }] as const
    })
    return new View(speaker, session, conversation, new Map(entries))
  }

  get channels(): readonly Uri[] {
    return [...this.#followed.keys()]
  }

  /** The state of the session, or of the channel that is named, after all received envelopes. */
  state(uri = this.session): Shape {
    for (; this.#folded < this.speaker.envelopes.length; this.#folded++) {
      const envelope = this.speaker.envelopes[this.#folded]
      const followed = envelope && this.#followed.get(this.speaker.channelOf(envelope) ?? '')
      if (envelope && followed) followed.state = this.#after(followed, followed.state, envelope)
    }
    return shapeOf(this.#followed.get(uri)?.state)
  }

  /** The state of the conversation. */
  talk(): Shape {
    return this.state(this.conversation)
  }

  /** The snapshot that the view began with. */
  start(uri: Uri): { readonly state: Shape; readonly fromSeq: number } {
    const { start: state, fromSeq } = this.#required(uri)
    return { state, fromSeq }
  }

  /** The state after the envelopes up to this number. */
  stateAt(uri: Uri, serverSeq: number): Shape {
    const followed = this.#required(uri)
    return this.speaker.envelopes
      .filter((each) => this.speaker.channelOf(each) === uri && each.serverSeq <= serverSeq)
      .reduce((state, envelope) => this.#after(followed, state, envelope), followed.start)
  }

  #required(uri: Uri): Followed {
    const followed = this.#followed.get(uri)
    if (!followed) throw new Failed(`a subscription to ${uri}`, excerpt(this.channels))
    return followed
  }

  #after({ kind, fromSeq }: Followed, state: Shape, { action, serverSeq, rejectionReason }: Envelope): Shape {
    const reduce = oracle(this.speaker.version)[kind]
    if (!reduce || rejectionReason || serverSeq <= fromSeq) return state
    return reduce(state, action, Date.now())
  }

  /** Dispatches an action of the session, which must be accepted. */
  set(name: string, fields: object): Promise<Envelope> {
    return this.speaker.mustAccept(this.session, { type: `session/${name}`, ...fields })
  }

  /** Dispatches an action of the conversation, which must be accepted. */
  say(name: string, fields: object): Promise<Envelope> {
    return this.speaker.mustAccept(this.conversation, this.action(name, fields))
  }

  /** An action of the conversation under the name that it has in this version. */
  action(name: string, fields: object): Action {
    return { type: this.speaker.turnType(name), ...fields }
  }

  /** The fields of an action that hold a message of the user. */
  message(text: string, model?: string): object {
    return this.speaker.message(
      text,
      model !== undefined && this.speaker.has('0.5.0') ? { model: { id: model } } : {},
    )
  }

  /** The accepted actions of the conversation with this name. */
  heard(name: string): readonly Shape[] {
    const { type } = this.action(name, {})
    return this.speaker.envelopes
      .filter((each) => this.speaker.channelOf(each) === this.conversation && !each.rejectionReason)
      .map(({ action }) => shapeOf(action))
      .filter((action) => action['type'] === type)
  }
}

function followedFrom(kind: Kind, snapshot: Shape): Followed {
  const state = shapeOf(snapshot['state'])
  return { kind, start: state, fromSeq: Number(snapshot['fromSeq']), state }
}

function primaryIn(session: Shape): Uri | undefined {
  const [first] = listOf(session, 'chats').map(shapeOf)
  return textOf(session, 'defaultChat') ?? (first && textOf(first, 'resource'))
}
