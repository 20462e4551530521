import { array, boolean, id, object, optional, string } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const commitParams = {
  /** The changeset of a session's uncommitted files. */
  channel: id,
  message: string,
  /**
   * The files to commit, as they are on the disk. If absent, the staged changes are committed, or all files if nothing is
   * staged.
   */
  files: optional(array(id)),
}
/** The params of `x-atrium/commit`. AHP has no command that takes a commit message which a person has written. */
export interface CommitParams extends Infer<typeof commitParams> {}
export const CommitParams = object<CommitParams>('AtriumCommitParams', commitParams)

export interface CommitResult {
  /** What was done, as a sentence. */
  readonly message: string
  /** The commits that were made. There is one for each working directory that has committed files. */
  readonly commits: readonly {
    readonly id: string
    readonly branch: string
    readonly files: readonly string[]
  }[]
}

const reviewHunksParams = {
  /** The URI of a changeset. */
  channel: id,
  /** The id of a file in the changeset. */
  file: id,
  /** The hashes of the hunks to mark. If the list is empty, the hunks of the file are only returned. */
  hunks: array(string),
  reviewed: boolean,
}
/** The params of `x-atrium/reviewHunks`. AHP has marks of whole files only. */
export interface ReviewHunksParams extends Infer<typeof reviewHunksParams> {}
export const ReviewHunksParams = object<ReviewHunksParams>('AtriumReviewHunksParams', reviewHunksParams)

/** A hunk of a file with its mark. Line numbers begin with 0. An empty side has the number of the line that follows it. */
export interface ReviewedHunk {
  /** The hash of the removed and added lines. */
  readonly hash: string
  readonly before: { readonly from: number; readonly count: number }
  readonly after: { readonly from: number; readonly count: number }
  readonly reviewed: boolean
}

export interface ReviewHunksResult {
  readonly hunks: readonly ReviewedHunk[]
}
