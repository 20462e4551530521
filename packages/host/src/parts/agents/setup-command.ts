import { filesOf } from '../../catalog/machine.ts'
import { limits } from '@atrium/protocol/limits'
import type { Core } from '../../kernel/core.ts'
import { JsonText } from '../../plugins/parse/json-text.ts'
import { containedFiles } from '../../plugins/plugin-files.ts'

/**
 * The files in which a repository names its setup command: `{"worktree": {"setup": "npm ci"}}`. The first file that names a
 * command counts.
 */
const fileNames = ['.agents/atrium.json', '.vscode/agent-host.json']

/**
 * Finds the command that a repository wants to run in a new worktree. Undefined if no file names one. A file that
 * cannot be read is skipped.
 */
export async function setupCommand(core: Core, root: string): Promise<string | undefined> {
  const files = filesOf(core)
  if (!files) return undefined
  const contained = containedFiles(files, root)
  for (const name of fileNames) {
    const command = await contained.read(name, limits.pluginFileBytes).then(commandIn, () => undefined)
    if (command !== undefined) return command
  }
  return undefined
}

function commandIn(bytes: Uint8Array): string | undefined {
  try {
    const { worktree } = new JsonText(new TextDecoder().decode(bytes), true, limits).value
    if (typeof worktree !== 'object' || worktree === null || !('setup' in worktree)) return undefined
    const { setup } = worktree
    return typeof setup === 'string' && setup.trim() !== '' && setup.length <= maxLength ? setup : undefined
  } catch {
    return undefined
  }
}

/** In characters. A longer command could not be shown to users as a whole. */
const maxLength = 1000
