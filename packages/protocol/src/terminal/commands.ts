import { command } from '../command.ts'
import { id, natural, optional, string } from '../schema.ts'
import { TerminalClaim } from './state.ts'
import { since } from '../version.ts'

export const terminalCommands = since('0.1.0', {
  createTerminal: command(
    {
      claim: TerminalClaim,
      name: optional(string),
      cwd: optional(id),
      cols: optional(natural),
      rows: optional(natural),
    },
    null,
  ),
  disposeTerminal: command({}, null),
})
