import { isDeepStrictEqual } from 'node:util'
import type { AgentCommand } from '@atrium/host/ports/agent'

/**
 * The slash commands that an agent had last in each folder. An agent tells its commands only while it runs. The folder of
 * the last commands comes last.
 */
export type RememberedCommands = { readonly [folder: string]: readonly AgentCommand[] }

/** Adds the commands of a folder. Returns the same object if they are known. */
export function withCommands(
  remembered: RememberedCommands,
  folder: string,
  commands: readonly AgentCommand[],
): RememberedCommands {
  const kept = commands.slice(0, maxCommands)
  if (isDeepStrictEqual(remembered[folder], kept)) return remembered
  const others = Object.entries(remembered).filter(([each]) => each !== folder)
  return Object.fromEntries([...others.slice(1 - maxFolders), [folder, kept]])
}

/** The commands of a folder. A folder that the agent has not worked in gets those of the folder that it worked in last. */
export function commandsFor(remembered: RememberedCommands, folder: string): readonly AgentCommand[] {
  return remembered[folder] ?? Object.values(remembered).at(-1) ?? []
}

const maxFolders = 20
const maxCommands = 200
