import type { Action } from '@atrium/protocol/channel'
import { customizationsKey, customizationsProperty } from '../agents/settings.ts'
import { customizationsOf } from '../../catalog/customizing.ts'
import type { Toggled } from '../../catalog/customizing.ts'
import { part } from '../../kernel/part.ts'
import type { McpServers } from '../../ports/mcp.ts'
import { Customizations, customizationEffects, rootEffects, serverEffects } from './customizations.ts'
import { findMcpChannel } from './mcp-channel.ts'
import type { CustomizationMachine } from '../../plugins/machine.ts'

interface Ports {
  /** Absent: sessions have no customizations but those of their agents. */
  readonly customizations?: CustomizationMachine
  /** Absent: the host itself uses no MCP servers. Agents may still use some. */
  readonly mcp?: McpServers
}

const isToggle = (action: Action): action is Toggled => action.type === 'session/customizationToggled'

/** The customizations of all sessions, and the MCP servers that the host runs for them. */
export const customizations = part<Customizations | undefined, Ports>({
  name: 'customizations',
  key: customizationsOf,
  open: (core, { customizations: machine, mcp }) => machine && Customizations.open(core, machine, mcp),
  settings: { [customizationsKey]: customizationsProperty() },
  rules: { effects: [customizationEffects, serverEffects, rootEffects], stateless: findMcpChannel },
  appended: (self, channel, action, _, by) => {
    if (by && channel.is('session') && isToggle(action)) self.toggled(channel, action)
  },
  started: (self) => self.reread(),
  close: (self, inTime) => inTime(self.closeServers()),
})
