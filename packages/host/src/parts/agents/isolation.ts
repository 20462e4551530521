import type { SessionConfigSchema } from '@atrium/protocol/common/config'

/** The config keys of a session that works in a worktree. */
export const isolationKeys = {
  isolation: 'isolation',
  branch: 'atrium.worktreeBranch',
  folder: 'atrium.worktreeFolder',
  setup: 'atrium.worktreeSetup',
} as const

const isolation = {
  type: 'string' as const,
  title: 'Isolation',
  description: 'Where the agent works.',
  enum: ['folder', 'worktree'],
  enumLabels: ['Folder', 'Worktree'],
  enumDescriptions: ['In the folder itself.', 'In a second checkout of its repository, on a new branch.'],
  default: 'folder',
}

const branch = {
  type: 'string' as const,
  title: 'Branch',
  description: 'The name of the new branch. If it is absent, the host chooses one.',
}

const folder = {
  type: 'string' as const,
  title: 'Folder of the worktree',
  description: 'The path of a new folder. If it is absent, the worktree is in the data folder of the host.',
}

/**
 * Returns the schema of the setting for the setup command. The value of the setting is the command itself, or empty.
 * A user who chooses the command consents to it being run.
 */
function setup(command: string | undefined) {
  return {
    type: 'string' as const,
    title: 'Setup command',
    description: 'The command of the repository that may run in the new worktree. Empty: none runs.',
    ...(command !== undefined && { enum: ['', command], enumLabels: ['Do not run it', command] }),
  }
}

/**
 * Returns the schemas of the settings for sessions in worktrees. `command` is the setup command that the repository
 * names.
 */
export function isolationProperties(command?: string): SessionConfigSchema['properties'] {
  return {
    [isolationKeys.isolation]: isolation,
    [isolationKeys.branch]: branch,
    [isolationKeys.folder]: folder,
    [isolationKeys.setup]: setup(command),
  }
}
