import { hostCommands } from '../../src/connection/commands.ts'
import { parts } from '../../src/parts.ts'

/** The commands of AHP that a host runs on an open connection. */
export const methods: readonly string[] = [
  ...hostCommands.keys(),
  ...parts.flatMap(({ rules }) => Object.keys(rules.methods ?? {})),
]
