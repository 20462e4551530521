import type { Command } from 'commander'
import { completedCommands, scripts } from '../shell-completion.ts'
import type { Shell } from '../shell-completion.ts'

/** `atrium completion`: prints a completion script, generated from the commands. */
export function completion(shell: Shell, program: Command): void {
  process.stdout.write(scripts[shell](completedCommands(program)))
}
