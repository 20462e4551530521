import type { Command } from 'commander'
import { completedOf, scripts } from '../shell-completion.ts'
import type { Shell } from '../shell-completion.ts'

/** `atrium completion`: a script for a shell, made from the commands that there are. */
export function completion(shell: Shell, program: Command): void {
  process.stdout.write(scripts[shell](completedOf(program)))
}
