import type { Uri } from '@atrium/protocol/channel'
import type { AgentInfo } from '@atrium/protocol/root/state'
import type { Implementation } from '@atrium/protocol/root/connection'
import { rootUri } from '@atrium/protocol/uri'
import type { Catalog } from './catalog.ts'
import type { Clients } from './clients.ts'
import type { Listener } from './entry.ts'
import type { Life } from './lives.ts'
import type { Log } from './log.ts'
import type { Records } from './ports/records.ts'
import type { Store } from './ports/store.ts'
import type { World } from './ports/world.ts'

/** One client's link to the host, as the rest of the core sees it. */
export interface Link extends Listener {
  readonly clientId: string
  readonly principal: string
  close(code: number, reason: string): void
}

/** What the parts of a host share. */
export interface Core {
  readonly store: Store
  /** Durable with the step they are put in. */
  readonly records: Records
  readonly world: World
  readonly log: Log
  readonly clients: Clients
  readonly catalog: Catalog
  /** The lives before this one. */
  readonly past: readonly Life[]
  readonly agents: readonly AgentInfo[]
  readonly info: Implementation
  readonly build: string | undefined
  readonly defaultDirectory: Uri | undefined
  /** Why nothing can be changed now, if nothing can. */
  readonly unchangeable: () => string | undefined
  /** By client id: the newest link of each, from the moment it says who it is. */
  readonly links: Map<string, Link>
}

/** Says something to whoever is subscribed to the root. */
export function tellRoot(core: Core, method: string, params: object): void {
  const frame = JSON.stringify({ jsonrpc: '2.0', method, params: { channel: rootUri, ...params } })
  for (const listener of core.log.channel(rootUri)?.listeners ?? []) listener.note(frame)
}
