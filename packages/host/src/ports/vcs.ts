/** What version control knows of a directory. Paths are absolute. Every adapter passes the suite in `vcs.contract.ts`. */
export interface Vcs {
  /** The top of the working tree that a directory is in; nothing where it is in none. */
  root(directory: string): Promise<string | undefined>
  status(root: string): Promise<VcsStatus>
  /** Of these paths, relative to the root, those that version control is told to ignore. */
  ignored(root: string, paths: readonly string[]): Promise<ReadonlySet<string>>
  /** The files of a tree that are not ignored, relative to the root, at most so many. */
  files(root: string, most: number): Promise<readonly string[]>
}

export interface VcsStatus {
  /** Absent where no branch is checked out. */
  readonly branch?: string
  /** The commit that is checked out; absent where there is none yet. */
  readonly commit?: string
  /** The branch that this one follows, and how many commits it has that this has not, and the other way round. */
  readonly upstream?: string
  readonly ahead?: number
  readonly behind?: number
  /** Where its remotes are, without credentials. */
  readonly remotes: readonly string[]
  /** Files that differ from the commit, and those that it does not know; ignored ones are not among them. */
  readonly changes: readonly VcsChange[]
}

export interface VcsChange {
  /** Relative to the root. */
  readonly path: string
  readonly type: 'added' | 'updated' | 'deleted'
}
