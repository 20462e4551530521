import type { Action, Uri } from '@atrium/protocol/channel'
import { oracle } from '@atrium/protocol/oracles'
import { Wire } from '@atrium/protocol/oracles/wire'
import type { Value } from '@atrium/protocol/oracles/wire'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Message } from '../message.ts'
import { Client } from './client.ts'
import type { Dispatch } from './client.ts'

interface Envelope {
  readonly channel?: Uri
  readonly action: Action
  readonly rejectionReason?: string
}

interface Answer {
  readonly snapshot?: Snapshot
  readonly snapshots?: readonly Snapshot[]
  readonly actions?: readonly Envelope[]
}

interface Snapshot {
  readonly resource: Uri
  readonly state: object
}

/** The kinds of channels that an older client follows. */
export type FollowedKind = 'root' | 'session' | 'chat'

/**
 * A client of an older protocol version. It writes messages and names channels as that version does. It reduces what
 * it receives with the reducers of the version, so that its states can be compared with those of a new subscriber.
 */
export class OlderClient extends Client {
  readonly version: Version
  readonly states = new Map<Uri, object>()
  readonly #wire: Wire
  protected override readonly versions: readonly string[]

  constructor(folder: string, id: string, version: Version) {
    // The judge reads every file that ends in `.jsonl`, and understands only AHP 1.0. So this file has another
    // ending.
    super(folder, `${id}.frames`, '')
    this.version = version
    this.versions = [version]
    this.#wire = new Wire(version)
  }

  /** Whether a session and its default chat are one channel. They are up to 0.3. */
  get merged(): boolean {
    return this.#wire.merged
  }

  override nameOf(uri: Uri): Uri {
    if (uri === rootUri) return this.#wire.root
    return this.#wire.nested ? uri.replace('ahp-session:', 'guide:') : uri
  }

  override turnsOf(session: Uri): Uri {
    return this.merged ? this.nameOf(session) : defaultChatUri(session)
  }

  kindOf(name: Uri): FollowedKind {
    if (name === this.nameOf(rootUri)) return 'root'
    return name.startsWith('ahp-chat:') ? 'chat' : 'session'
  }

  protected override params(method: string, channel: Uri, params: object): object {
    return this.#wire.params(method, this.nameOf(channel), params as Value)
  }

  protected override dispatchParams({ channel, clientSeq, action }: Dispatch): object {
    return this.#wire.dispatch(channel, clientSeq, action)
  }

  protected override heard(message: Message): Message {
    const { method, params, result } = message
    if (method === 'action') this.#apply(params as Envelope)
    else if (method !== undefined) return { ...message, ...this.#wire.notice(method, params as Value) }
    const { snapshot, snapshots = [], actions = [] } = (result ?? {}) as Answer
    for (const each of [...snapshots, ...(snapshot ? [snapshot] : [])])
      this.states.set(each.resource, each.state)
    for (const each of actions) this.#apply(each)
    return message
  }

  protected override left(name: Uri): void {
    super.left(name)
    this.states.delete(name)
  }

  #apply(envelope: Envelope): void {
    const name = this.#wire.channelOf(envelope) ?? ''
    const state = this.states.get(name)
    if (!state || envelope.rejectionReason !== undefined) return
    const reduce = oracle(this.version)[this.kindOf(name)]
    if (reduce) this.states.set(name, reduce(state, envelope.action, 0) as object)
  }
}
