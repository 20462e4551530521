/**
 * Worktrees: second checkouts of a repository, each on a branch of its own, in which a session works without touching the
 * user's checkout. Paths are absolute. Every adapter passes the suite in `worktrees.contract.ts`.
 */
export interface Worktrees {
  /**
   * Creates a worktree at the commit that is checked out. If an earlier try with the same id was interrupted, this call
   * finishes it; if it was finished, this call returns the same worktree. Rejects with `WorktreeRefused`, and then leaves
   * nothing behind.
   */
  create(wanted: WantedWorktree, signal: AbortSignal): Promise<Worktree>
  /** What a worktree has that its main checkout does not have. Rejects with `WorktreeRefused` if there is no such worktree. */
  state(id: string): Promise<WorktreeState>
  /**
   * Brings the commits and the uncommitted changes of a worktree into its main checkout: all of them or none, also over a
   * crash. Rejects with `WorktreeRefused` if the main checkout is not clean, or if the changes conflict.
   */
  apply(id: string): Promise<AppliedWorktree>
  /** Removes a worktree. Rejects with `WorktreeRefused` if something would be lost. Removes nothing if there is no such worktree. */
  remove(id: string): Promise<RemovedWorktree>
  /**
   * Finishes what `apply` and `remove` had begun before a crash. Files that somebody changed meanwhile are left as they are.
   * What cannot be finished now is finished by the next start, or by applying again.
   */
  recover(): Promise<readonly (AppliedWorktree | UnfinishedWorktree)[]>
}

export interface WantedWorktree {
  /** Letters, digits, `_` and `-`. */
  readonly id: string
  /** A directory in the checkout that the worktree begins from. */
  readonly directory: string
  /** The name of the new branch. Absent: the adapter chooses one. */
  readonly branch?: string
  /** The folder of the worktree, which must be empty or missing. Absent: the adapter chooses one. */
  readonly path?: string
}

export interface Worktree {
  readonly id: string
  /** The root of the worktree. */
  readonly path: string
  /** The directory in the worktree that corresponds to the wanted one. */
  readonly directory: string
  /** The root of the checkout that the worktree began from, and to which its changes are applied. */
  readonly main: string
  readonly branch: string
  /** The commit that the worktree began from. */
  readonly base: string
  /** What users should know about this worktree, in sentences. */
  readonly notes: readonly string[]
}

export interface WorktreeState {
  readonly worktree: Worktree
  /** The branch that is checked out in the main checkout. Absent: none is. */
  readonly mainBranch?: string
  /**
   * Paths that differ from the last commit of the worktree. A path is left out if its present content was already
   * applied to the main checkout.
   */
  readonly uncommitted: readonly string[]
  /** The number of commits that the main checkout does not have. */
  readonly unapplied: number
  /** Ignored files that were copied into the worktree and have been changed since. */
  readonly copies: readonly string[]
}

export interface AppliedWorktree {
  readonly id: string
  readonly main: string
  /** The commit that is now checked out in the main checkout. */
  readonly commit: string
  /** Paths that were written or deleted in the main checkout. */
  readonly files: readonly string[]
  /** Those of `files` that are not committed in the main checkout. */
  readonly uncommitted: readonly string[]
  /** Paths that somebody changed between a crash and the next start of the host, and that were left as they are. */
  readonly left: readonly string[]
}

/** An `apply` that a crash has interrupted, and that cannot be finished now. */
export interface UnfinishedWorktree {
  readonly id: string
  readonly main: string
  /** The reason, as a sentence for users. */
  readonly problem: string
}

export interface RemovedWorktree {
  /** Whether the branch was deleted, too. It is deleted if the main checkout has all of its commits. */
  readonly branchDeleted: boolean
}

/** The error for an operation that is not possible now. The message says why, in a sentence for users. */
export class WorktreeRefused extends Error {
  override readonly name = 'WorktreeRefused'
  /** The paths that are in the way: conflicts, or what would be lost. */
  readonly paths: readonly string[]

  constructor(message: string, paths: readonly string[] = []) {
    super(message)
    this.paths = paths
  }
}
