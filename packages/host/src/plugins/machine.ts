import type { McpServerConfig } from '../ports/mcp.ts'
import type { Hash } from './digest.ts'
import type { PluginCopies } from './plugin-copies.ts'

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
