import type { Uri } from '@atrium/protocol/channel'
import type { LimitValues } from '@atrium/protocol/limits'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { OAuthClient, ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { Customization } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { Device } from '@atrium/protocol/root/device'
import type { SessionResources } from './session-resources.ts'
import type { SessionFeed } from './session-feed.ts'
import type { ListChanges } from './session-list/list-changes.ts'
import type { Aliases } from '../aliases/aliases.ts'
import type { Catalog } from './catalog.ts'
import type { ChangeTracking } from './changes/change-tracking.ts'
import type { ClientHabits, Clients } from './clients.ts'
import type { Channel } from '../log/channel.ts'
import type { Listener } from '../log/entry.ts'
import type { Component } from '../plugins/plugin.ts'
import type { Departures } from './departures.ts'
import type { Devices } from './devices/devices.ts'
import type { ContentRetention } from './content-retention.ts'
import type { ClientUriOwners } from './client-uri-owners.ts'
import type { Epoch } from '../log/epochs.ts'
import type { FileListings } from './file-listing.ts'
import type { Log } from '../log/log.ts'
import type { Owners } from './owners.ts'
import type { Agent } from '../ports/agent.ts'
import type { Commits } from '../ports/commits.ts'
import type { ContentEncoder } from '../ports/content-encoder.ts'
import type { Files } from '../ports/files.ts'
import type { HookRunner } from '../ports/hooks.ts'
import type { McpServer, McpServers } from '../ports/mcp.ts'
import type { Records } from '../ports/records.ts'
import type { Store } from '../ports/store.ts'
import type { Terminals } from '../ports/terminals.ts'
import type { Vcs } from '../ports/vcs.ts'
import type { Worktrees } from '../ports/worktrees.ts'
import type { RecordMap } from './record-map.ts'
import type { World } from '../ports/world.ts'
import type { ReadBudget } from './read-budget.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { Notifying } from './notifications/notifying.ts'
import type { Searching } from './search/searching.ts'
import type { Past } from './history/past.ts'
import type { SignIns } from './sign-ins/sign-ins.ts'
import type { Tokens } from './tokens.ts'
import type { Jobs } from './jobs.ts'
import type { Machines } from './node/machines.ts'
import type { Metrics } from './node/metrics.ts'

/** One client's link to the host, as the rest of the core sees it. */
export interface Link extends Listener {
  readonly clientId: string
  readonly principal: string
  /** The device whose credential the client has used. Undefined if it has used the token of the host. */
  readonly device?: Device | undefined
  close(code: number, reason: string): void
  /** Sends a request to the client. */
  ask?(method: string, params: object): Promise<unknown>
}

/** The customizations of the sessions, as the other parts of the core use them. */
export interface Customizing {
  /** Reads the sources of a session's customizations again, and updates the session's state. */
  refresh(session: Uri): Promise<void>
  /** Updates a session's state to what is known of its customizations. */
  publish(session: Uri): void
  /** Records that a user has turned a customization on or off, in the transaction of the action. */
  toggled(session: Channel<'session'>, action: Toggled): void
  /**
   * The parts of plugins and folders (such as skills, prompts and MCP servers) that an agent of the session may use.
   * Resolves once the sources were read.
   */
  components(session: Uri): Promise<readonly Component[]>
  /**
   * Reads a part of a plugin again, because it may have changed since it was read. The part is one that runs
   * programs. Returns why its programs may not run now; undefined if they may.
   */
  changedProgram(session: Uri, id: string): Promise<string | undefined>
  /** The plugins and folders that a session in this folder would have. */
  offered(folder: Uri | undefined): Promise<readonly { readonly id: string; readonly name: string }[]>
  /**
   * Starts the MCP servers that the host runs for a session. `tools` returns the tools of those servers that are
   * ready, and `server` returns one server.
   */
  startServers(session: Uri): Promise<void>
  tools(session: Uri): readonly ServerTools[]
  server(session: Uri, id: string): McpServer | undefined
  /**
   * The customizations that every session has. Those that have not been read yet are missing. Their children are left out,
   * because the info of every agent would repeat them.
   */
  readonly ofHost: readonly Customization[]
  /** Reads the sources of the host and of every session again. */
  reread(): void
  /** Brings the customizations of a session that has come into memory up to date. */
  seen(session: Uri): void
  /** Ends the session's use of its MCP servers, because the session has left memory. */
  slept(session: Uri): void
  forget(session: Uri): void
  /** Reads the plugins of a client that is back: what was read while it was away may be incomplete. */
  clientReturned(clientId: string): void
  /** The MCP servers of a principal's sessions that wait for a token of this resource. */
  waitingFor(
    principal: string,
    resource: string,
  ): readonly {
    readonly server: McpServer
    readonly resource: ProtectedResourceMetadata
    readonly client?: OAuthClient | undefined
  }[]
}

/** The tools of an MCP server. `id` and `name` are those of the server's customization. */
export interface ServerTools {
  readonly id: string
  readonly name: string
  readonly tools: readonly ToolDefinition[]
}

export type Toggled = Extract<SessionAction, { readonly type: 'session/customizationToggled' }>

/** The parts of a host. Each part gets the core in order to use the other parts. */
export interface Core {
  readonly store: Store
  /** A record becomes durable in the same transaction as the actions that are appended with it. */
  readonly records: Records
  readonly world: World
  readonly limits: LimitValues
  readonly log: Log
  readonly clients: Clients
  readonly catalog: Catalog
  readonly aliases: Aliases
  readonly machines: Machines
  readonly metrics: Metrics
  readonly sessionFeed: SessionFeed
  readonly listChanges: ListChanges
  readonly departures: Departures
  readonly sessionResources: SessionResources
  readonly contentRetention: ContentRetention
  readonly clientUriOwners: ClientUriOwners
  readonly owners: Owners
  readonly devices: Devices
  /** The id of each session's worktree, until the worktree is removed or given up. */
  readonly worktreeIds: RecordMap<string>
  /** Undefined if the host was started without customizations. */
  readonly customizations: Customizing | undefined
  /** Undefined if the host was started without captures. */
  readonly changes: ChangeTracking | undefined
  /** Undefined if the host was started without a search index. */
  readonly search: Searching | undefined
  /** Answers questions about earlier states and stored envelopes of channels. */
  readonly past: Past
  /** Undefined if the host was started without a notifier, or cannot write. */
  readonly notifications: Notifying | undefined
  readonly tokens: Tokens
  /** Undefined if the host was started without an authorizer. */
  readonly signIns: SignIns | undefined
  /** The files, shells and version control of the machine. Each is undefined if the host was started without it. */
  readonly files: Files | undefined
  readonly terminals: Terminals | undefined
  readonly vcs: Vcs | undefined
  readonly worktrees: Worktrees | undefined
  /** Undefined if the host was started without the ability to commit. */
  readonly commits: Commits | undefined
  readonly hooks: HookRunner | undefined
  readonly mcp: McpServers | undefined
  readonly encoder: ContentEncoder | undefined
  readonly readBudget: ReadBudget
  /** The files of directories, for completions. */
  readonly listings: FileListings
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
