/**
 * Stages and commits files of a folder that is in a repository. Paths are relative to the folder, with forward slashes. If a call
 * rejects with a `CommitFailed`, nothing was changed, and the message says why. Every adapter passes `commits.contract.ts`.
 */
export interface Commits {
  /**
   * The paths of the folder whose staged content differs from the last commit, sorted. Empty if the folder is in no
   * repository.
   */
  staged(directory: string): Promise<readonly string[]>
  /** Stages files as they are on the disk. A missing file is staged as deleted. */
  stage(directory: string, paths: readonly string[]): Promise<void>
  /**
   * Takes files out of the index again: there they get the content of the last commit. The files on the disk stay as
   * they are.
   */
  unstage(directory: string, paths: readonly string[]): Promise<void>
  /**
   * Commits on the branch that is checked out. What is staged and not part of the commit stays staged. If the host is killed
   * during the call, the commit is either made or not made. If it is not made, its files may be staged.
   */
  commit(directory: string, request: CommitRequest): Promise<Commit>
  /** Removes what an earlier host has left in repositories when it was killed. Called once, before anything else. */
  recover(): Promise<void>
}

export interface CommitRequest {
  readonly message: string
  /** The files to commit, as they are on the disk. Absent: what is staged in the folder. */
  readonly paths?: readonly string[]
}

export interface Commit {
  /** The hash of the commit. */
  readonly id: string
  readonly branch: string
  /** The paths of the folder that the commit changes, sorted. */
  readonly paths: readonly string[]
}

/** The error if nothing was staged or committed. The message says why, in a sentence for users. */
export class CommitFailed extends Error {
  override readonly name = 'CommitFailed'
}
