import type { Uri } from '@atrium/protocol/channel'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { SessionResources } from './session-resources.ts'
import type { SessionFeed } from './session-feed.ts'
import type { ListChanges } from './session-list/list-changes.ts'
import type { Aliases } from '../aliases/aliases.ts'
import type { Catalog } from './catalog.ts'
import type { ClientHabits, Clients } from './clients.ts'
import type { ContentRetention } from './content-retention.ts'
import type { ClientUriOwners } from './client-uri-owners.ts'
import type { Epoch } from '../log/epochs.ts'
import type { Link } from './link.ts'
import type { Log } from '../log/log.ts'
import type { OpenParts } from './open-parts.ts'
import type { Owners } from './owners.ts'
import type { Agent } from '../ports/agent.ts'
import type { Commits } from '../ports/commits.ts'
import type { ContentEncoder } from '../ports/content-encoder.ts'
import type { Files } from '../ports/files.ts'
import type { HookRunner } from '../ports/hooks.ts'
import type { Records } from '../ports/records.ts'
import type { Store } from '../ports/store.ts'
import type { Terminals } from '../ports/terminals.ts'
import type { Vcs } from '../ports/vcs.ts'
import type { Worktrees } from '../ports/worktrees.ts'
import type { RecordMap } from './record-map.ts'
import type { World } from '../ports/world.ts'
import type { ReadBudget } from './read-budget.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { Jobs } from './jobs.ts'
import type { Machines } from './node/machines.ts'
import type { Metrics } from './node/metrics.ts'

/** What every part of a host may use. */
export interface Core {
  readonly store: Store
  /** A record becomes durable in the same transaction as the actions that are appended with it. */
  readonly records: Records
  readonly world: World
  readonly limits: LimitValues
  readonly log: Log
  /** What the parts of the host offer, their commands, and the moments that they follow. */
  readonly parts: OpenParts
  readonly clients: Clients
  readonly catalog: Catalog
  readonly aliases: Aliases
  readonly machines: Machines
  readonly metrics: Metrics
  readonly sessionFeed: SessionFeed
  readonly listChanges: ListChanges
  readonly sessionResources: SessionResources
  readonly contentRetention: ContentRetention
  readonly clientUriOwners: ClientUriOwners
  readonly owners: Owners
  /** The id of each session's worktree, until the worktree is removed or given up. */
  readonly worktreeIds: RecordMap<string>
  /** The files, shells and version control of the machine. Each is undefined if the host was started without it. */
  readonly files: Files | undefined
  readonly terminals: Terminals | undefined
  readonly vcs: Vcs | undefined
  readonly worktrees: Worktrees | undefined
  /** Undefined if the host was started without the ability to commit. */
  readonly commits: Commits | undefined
  readonly hooks: HookRunner | undefined
  readonly encoder: ContentEncoder | undefined
  readonly readBudget: ReadBudget
  /** The earlier runs of the host on this store. */
  readonly earlierEpochs: readonly Epoch[]
  /** The agents on offer. The list is replaced when an agent is added or removed. */
  agents: readonly Agent[]
  readonly jobs: Jobs
  readonly sealing: Sealing
  readonly habits: (clientName?: string) => ClientHabits
  readonly info: Implementation
  readonly build: string | undefined
  readonly defaultDirectory: Uri | undefined
  /**
   * Returns why the host is read-only at the moment, if it is. With a client id: why no action of this client can be accepted.
   * On a full disk, an action may wait for space behind earlier ones of its client.
   */
  readonly readOnlyReason: (clientId?: string) => string | undefined
  /** The newest link of each client id. A link is entered here at the start of its handshake. */
  readonly links: Map<string, Link>
}
