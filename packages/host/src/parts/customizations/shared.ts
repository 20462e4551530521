import type { Core } from '../../kernel/core.ts'
import type { McpServers } from '../../ports/mcp.ts'
import type { CustomizationMachine } from '../../plugins/machine.ts'
import type { Copies } from './copies.ts'
import type { Consents } from './consent.ts'
import type { Enablements } from './enablement.ts'
import type { Library } from './library.ts'

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
