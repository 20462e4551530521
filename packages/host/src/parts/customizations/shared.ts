import type { Core } from '../../kernel/core.ts'
import type { Hash } from '../../plugins/digest.ts'
import type { McpServerConfig, McpServers } from '../../ports/mcp.ts'
import type { PluginCopies } from '../../plugins/plugin-copies.ts'
import type { Copies } from './copies.ts'
import type { Consents } from './consent.ts'
import type { Enablements } from './enablement.ts'
import type { Library } from './library.ts'

/** What customizations need of the machine. */
export interface CustomizationMachine {
  readonly hash: Hash
  /** The home of the user, in which customizations are looked for. */
  readonly home?: string
  /** The directory for the data of a plugin, which outlives an update of the plugin. */
  dataOf?(id: string): string
  /** The copies of client plugins. Without them, a program that names a file of its client plugin does not work. */
  readonly copies?: PluginCopies
  /** MCP servers of the host's settings, by name. */
  readonly servers?: { readonly [name: string]: McpServerConfig }
}

/** What the customizations of all sessions have in common. */
export interface Shared {
  readonly core: Core
  readonly mcp: McpServers | undefined
  readonly machine: CustomizationMachine
  readonly enablements: Enablements
  readonly consents: Consents
  readonly library: Library
  readonly copies: Copies | undefined
}
