import type { Action, Uri } from '@atrium/protocol/channel'
import type { SentRequest } from './checks/context.ts'
import type { Link, Message } from './link.ts'

/** The commands a plan can give to any kind of client. */
export interface SimulatedClient {
  readonly id: string
  readonly link: Link | undefined
  /** The host has answered the handshake. */
  readonly open: boolean
  ask(method: string, params: SentRequest['params'] & object, answered: (message: Message) => void): void
  dispatch(channel: Uri, action: Action): void
  create(session: Uri, active: boolean, directories?: readonly Uri[]): void
  subscribe(uri: Uri, maxLatencyMs?: number, turns?: number): void
}
