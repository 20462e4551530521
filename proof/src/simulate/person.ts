import type { Action, Uri } from '@atrium/protocol/channel'
import type { Question } from './audit.ts'
import type { Link, Message } from './link.ts'

/** What a plan can make anybody do, whatever kind of client that is. */
export interface Person {
  readonly id: string
  readonly link: Link | undefined
  /** The host has answered its handshake. */
  readonly open: boolean
  ask(method: string, params: Question['params'] & object, answered: (message: Message) => void): void
  dispatch(channel: Uri, action: Action): void
  create(session: Uri, active: boolean, directories?: readonly Uri[]): void
  subscribe(uri: Uri, maxLatencyMs?: number, turns?: number): void
}
