import { array, id, object, optional, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const commitParams = {
  /** The changeset of a session's uncommitted files. */
  channel: id,
  message: string,
  /** The files to commit, as they are on the disk. Absent: what is staged, or all files if nothing is. */
  files: optional(array(id)),
}
/** The params of `x-atrium/commit`. AHP has no word for a message that a person has written. */
export interface CommitParams extends Infer<typeof commitParams> {}
export const CommitParams = object<CommitParams>('AtriumCommitParams', commitParams)

export interface CommitResult {
  /** What was done, as a sentence. */
  readonly message: string
  /** One commit for each working directory with files of the commit. */
  readonly commits: readonly {
    readonly id: string
    readonly branch: string
    readonly files: readonly string[]
  }[]
}
