import type { Uri } from '@atrium/protocol/channel'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Implementation } from '@atrium/protocol/root/connection'
import type { CustomizationMachine } from './plugins/machine.ts'
import type { ClientHabits } from './kernel/clients.ts'
import type { Agent } from './ports/agent.ts'
import type { Authorizer } from './ports/authorizer.ts'
import type { Captures } from './ports/captures.ts'
import type { Commits } from './ports/commits.ts'
import type { ContentEncoder } from './ports/content-encoder.ts'
import type { Files } from './ports/files.ts'
import type { HookRunner } from './ports/hooks.ts'
import type { McpServers } from './ports/mcp.ts'
import type { Notifier } from './ports/notifier.ts'
import type { OtherHosts } from './ports/other-hosts.ts'
import type { SearchIndex } from './ports/search-index.ts'
import type { Store } from './ports/store.ts'
import type { Listens } from './parts/canvas/canvases.ts'
import type { TelemetryPort } from './parts/telemetry/port.ts'
import type { Terminals } from './ports/terminals.ts'
import type { Vcs } from './ports/vcs.ts'
import type { World } from './ports/world.ts'
import type { Worktrees } from './ports/worktrees.ts'
import type { Machine } from './catalog/machines.ts'

/** What a host is given: its store, its world, and the ports of everything outside. */
export interface HostPorts {
  readonly store: Store
  /** The name of the store in the log of the host. */
  readonly place?: string | undefined
  readonly world: World
  readonly agents?: readonly Agent[]
  readonly files?: Files
  readonly terminals?: Terminals
  readonly vcs?: Vcs
  /**
   * Absent: the host does not record the files before and after a turn, so there are no changesets and nothing can be
   * undone.
   */
  readonly captures?: Captures
  /** Absent: no other host works in the folders of this one. Works only together with `captures`. */
  readonly otherHosts?: OtherHosts
  /** Absent: sessions work in their folders only. */
  readonly worktrees?: Worktrees
  /** Absent: clients cannot stage or commit files. Works only together with `captures`. */
  readonly commits?: Commits
  /** Absent: hooks are not run. */
  readonly hooks?: HookRunner
  /** Absent: the host itself uses no MCP servers. Agents may still use some. */
  readonly mcp?: McpServers
  /** Absent: clients get the tokens for resources themselves. */
  readonly authorizer?: Authorizer | undefined
  /** Absent: the texts of the sessions are not searched. A read-only host only reads the index. */
  readonly search?: SearchIndex | undefined
  /** Absent: people who see no client are not notified. A read-only host notifies nobody. */
  readonly notifier?: Notifier | undefined
  /** Absent: the host offers no telemetry. */
  readonly telemetry?: TelemetryPort | undefined
  /** Absent: the servers that commands start are not shown. */
  readonly listens?: Listens | undefined
  readonly encoder?: ContentEncoder
  /** Absent: sessions have no customizations but those of their agents. */
  readonly customizations?: CustomizationMachine
  readonly info?: Implementation
  /** The name of this build, which is shown to users. */
  readonly build?: string
  readonly defaultDirectory?: Uri
  /** The reason why the disk must not be written. If a reason is given, the host is read-only. */
  readonly readOnly?: string
  /**
   * Returns the reason why nothing may change a state for now, if there is one. Absent: only a full disk is such a reason.
   */
  readonly refusal?: () => string | undefined
  /** The machine of this node. Absent: the host shares its store with nobody. */
  readonly machine?: Machine | undefined
  /** The habits of client programs by their names, instead of the known ones. */
  readonly habits?: ((clientName?: string) => ClientHabits) | undefined
  /** Limits that replace the defaults. */
  readonly limits?: Partial<LimitValues>
  /** Maximum number of stored actions that are reduced when a channel is loaded into memory. */
  readonly headEvery?: number
  /** Number of newest finished turns that are read when a chat is loaded into memory. */
  readonly tail?: number
  /** The minimum length of the text that is compressed into one segment, in characters. */
  readonly sealLeast?: number
  /** Called when the store cannot be trusted any more. The function should report the error and end the program. */
  readonly fatal?: (error: unknown) => void
}
