import { command } from '../command.ts'
import { id, natural, optional, string } from '../schema.ts'
import { TerminalClaim } from './state.ts'

export const terminalCommands = {
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
}
