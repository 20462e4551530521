import { filesOf } from '../../catalog/machine.ts'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { pathsIn } from '../changes/directories.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { FileError } from '../../ports/files.ts'

/**
 * Returns the failure of a session one of whose working directories does not exist. A directory that cannot be
 * examined for another reason is left to the agent.
 */
export async function missingFolder(
  core: Core,
  { head }: Channel<'session'>,
): Promise<ErrorInfo | undefined> {
  for (const path of filesOf(core) ? pathsIn(head.workingDirectories) : []) {
    const found = await filesOf(core)
      ?.stat({ path, roots: [path] }, true)
      .catch((error: unknown) => error)
    const isMissing = found instanceof FileError && found.reason === 'missing'
    const isFile = typeof found === 'object' && found !== null && 'type' in found && found.type === 'file'
    if (isMissing || isFile)
      return {
        errorType: 'folder',
        message: `There is no folder ${path}. Create it, and then a new session; or choose another folder.`,
      }
  }
  return undefined
}
