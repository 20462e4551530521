import type { Action, Uri } from '../channel.ts'
import { rootUri } from '../uri.ts'
import { isBefore } from '../versions/negotiate.ts'
import type { Version } from '../versions/negotiate.ts'

/** A JSON object of any version. */
export type Value = { readonly [key: string]: unknown }

/** An envelope of any version. At 0.1 it has no channel: the action names it. */
export interface WireEnvelope {
  readonly channel?: Uri
  readonly action: Action
}

/** The name of the root channel at 0.1. */
export const firstRootUri: Uri = 'agenthost:/root'

/** For each method, the member of the params that names the channel at 0.1. The params of other methods name no channel. */
const channelMembers: ReadonlyMap<string, string> = new Map([
  ['subscribe', 'resource'],
  ['unsubscribe', 'resource'],
  ['createSession', 'session'],
  ['disposeSession', 'session'],
  ['fetchTurns', 'session'],
  ['completions', 'session'],
  ['createTerminal', 'terminal'],
  ['disposeTerminal', 'terminal'],
])

/**
 * How a client of one version writes its messages, and where it finds the channel in the messages of the host.
 * Clients in tests use this class. It does not use the version translations of this package, because the tests judge
 * them.
 */
export class Wire {
  readonly version: Version
  /** Whether the action names its channel, while params and envelopes do not. True at 0.1. */
  readonly nested: boolean
  /** Whether a session and the chat that represents it are one channel. True up to 0.3. */
  readonly merged: boolean

  constructor(version: Version) {
    this.version = version
    this.nested = isBefore(version, '0.2.0')
    this.merged = isBefore(version, '0.4.0')
  }

  get root(): Uri {
    return this.nested ? firstRootUri : rootUri
  }

  /** The params of a request or notification about a channel. */
  params(method: string, channel: Uri, more: Value = {}): Value {
    if (!this.nested) return { channel, ...more }
    const member = channelMembers.get(method)
    return member === undefined ? more : { [member]: channel, ...more }
  }

  /** The params of a dispatch. At 0.1 an action names its session or terminal. */
  dispatch(channel: Uri, clientSeq: number, action: Action): Value {
    return this.nested
      ? { clientSeq, action: this.addressed(channel, action) }
      : { channel, clientSeq, action }
  }

  /** An action as it is on the wire. At 0.1 it also names its session or terminal. */
  addressed(channel: Uri, action: Action): Action {
    const [family = ''] = action.type.split('/')
    if (!this.nested || family === 'root' || channel === this.root) return action
    const member = family === 'terminal' ? 'terminal' : 'session'
    return { ...action, [member]: channel }
  }

  /** The channel of an envelope. Undefined if the envelope lacks it. */
  channelOf({ channel, action }: WireEnvelope): Uri | undefined {
    if (!this.nested) return channel
    const { session, terminal }: NestedAction = action
    return session ?? terminal ?? this.root
  }

  /** The type of an action about turns. Up to 0.3 turns belong to the session, so the type begins with `session/`. */
  turnType(name: string): string {
    return `${this.merged ? 'session' : 'chat'}/${name}`
  }

  /** The members of an action that hold a user's message. Since 0.3 a message has an origin. */
  message(text: string, more: Value = {}): Value {
    if (isBefore(this.version, '0.3.0')) return { userMessage: { text, ...more } }
    return { message: { text, origin: { kind: 'user' }, ...more } }
  }

  /**
   * A notification about the session list in the form of 0.2 and later versions. At 0.1 all these notifications have the
   * same method, and differ by `type`.
   */
  notice(method: string, params: Value): { readonly method: string; readonly params: Value } {
    if (!this.nested || method !== 'notification') return { method, params }
    const { type, ...rest } = params['notification'] as Value
    return { method: String(type).replace('notify/', 'root/'), params: rest }
  }
}

interface NestedAction extends Action {
  readonly session?: Uri
  readonly terminal?: Uri
}
