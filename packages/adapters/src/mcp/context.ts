import type { World } from '@atrium/host/ports/world'
import { limits } from '@atrium/protocol/limits'
import type { Variables } from '../process/environment.ts'
import type { Watchdog } from '../process/watchdog.ts'

/** The host's resources for all MCP servers. */
export interface McpContext {
  readonly later: World['later']
  readonly watchdog: Watchdog
  /** The marker of this host: the value of an environment variable by which the watchdog finds the host's processes. */
  readonly mark: string
  readonly environment: Variables
  /** The version of Atrium. */
  readonly version: string
  /** Other values for some limits, such as the time after which an idle server is stopped. */
  readonly limits?: Partial<McpLimits>
}

/** The limits of MCP servers (S-57). */
export type McpLimits = Pick<typeof limits, McpLimitName>

type McpLimitName = Extract<keyof typeof limits, `mcp${string}` | `metadata${string}`>

export function limitsOf({ limits: changed }: McpContext): McpLimits {
  return { ...limits, ...changed }
}

/** The two groups of MCP revisions: `modern` since the revision of 2026-07-28, and `legacy` before. */
export type Era = 'modern' | 'legacy'

/** What a server of the pool needs from the pool, and from the sessions that use it. */
export interface PoolSide {
  readonly context: McpContext
  /** Whether the server is `modern` or `legacy`, if this is known. */
  era(): Era | undefined
  /** Whether another server may be started. */
  mayStart(): boolean
  token(resource: string): string | undefined
  /** Whether a session that uses the server wants it to run. */
  isWanted(): boolean
  /** Called when the state or the tools have changed. */
  changed(): void
  /** Called when the server has connected, before any session can call it. */
  connected(era: Era): void
}
