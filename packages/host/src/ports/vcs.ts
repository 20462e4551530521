/** Version control. Paths of directories are absolute. Every adapter passes the suite in `vcs.contract.ts`. */
export interface Vcs {
  /** Returns the root of the working tree that contains a directory; undefined if no working tree does. */
  root(directory: string): Promise<string | undefined>
  status(root: string): Promise<VcsStatus>
  /**
   * Returns the directories, outside the working files, to which a commit, a checkout or a change of the index
   * writes. Each has the form of a git directory.
   */
  gitDirectories(root: string): Promise<readonly string[]>
  /** Returns those of the given paths that are ignored. The paths are relative to the root. */
  ignored(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns at most `max` files of a working tree that are not ignored. Their paths are relative to the root. */
  files(root: string, max: number): Promise<readonly string[]>
}

export interface VcsStatus {
  /** The current branch; absent if no branch is checked out. */
  readonly branch?: string
  /** The commit that is checked out; absent before the first commit. */
  readonly commit?: string
  /** The upstream branch. */
  readonly upstream?: string
  /** Number of commits of the current branch that are not in the upstream branch. */
  readonly ahead?: number
  /** Number of commits of the upstream branch that are not in the current branch. */
  readonly behind?: number
  /** The URLs of the remotes, without credentials. */
  readonly remotes: readonly string[]
  /** Files that differ from the checked-out commit, and untracked files that are not ignored. */
  readonly changes: readonly VcsChange[]
}

export interface VcsChange {
  /** Relative to the root. */
  readonly path: string
  readonly type: 'added' | 'updated' | 'deleted'
}
