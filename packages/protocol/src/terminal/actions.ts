import { client, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { id, natural, number, optional, string } from '../schema.ts'
import { TerminalClaim } from './state.ts'

export const terminalActions = {
  'terminal/data': host({ data: string }, 'ephemeral'),
  // Typed input may be a password, so it is never stored.
  'terminal/input': client({ data: string }, 'ephemeral'),
  'terminal/resized': client({ cols: natural, rows: natural }),
  'terminal/claimed': client({ claim: TerminalClaim }),
  'terminal/titleChanged': client({ title: string }),
  'terminal/cwdChanged': host({ cwd: id }),
  'terminal/exited': host({ exitCode: optional(number) }),
  'terminal/cleared': client({}),
  'terminal/commandDetectionAvailable': host({}),
  'terminal/commandExecuted': host({ commandId: id, commandLine: string, timestamp: number }),
  'terminal/commandFinished': host({
    commandId: id,
    exitCode: optional(number),
    durationMs: optional(number),
  }),
}
export type TerminalAction = ActionsOf<typeof terminalActions>
