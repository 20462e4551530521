/**
 * The files of the machine. Every path comes with the directories that it must be in. An adapter checks this containment on
 * the opened file, not on the text of the path (S-28, S-29). Every adapter passes the suite in `files.contract.ts`.
 */
export interface Files {
  /** Reads a regular file. A file of more than `max` bytes is rejected as `unfit`. */
  read(place: ContainedPath, max: number): Promise<Uint8Array>
  /** Writes a file atomically: no reader sees only a part of the data. */
  write(place: ContainedPath, data: Uint8Array, how?: Write): Promise<void>
  /** Lists a directory, in no particular order. A directory of more than `max` entries is rejected as `unfit`. */
  list(place: ContainedPath, max: number): Promise<readonly FileEntry[]>
  /** Returns the metadata of a file. For a symbolic link these are the link's own, unless `follow` is set. */
  stat(place: ContainedPath, follow: boolean): Promise<FileStat>
  change(change: Change): Promise<void>
  /**
   * Watches a path. From the moment when the promise resolves, all changes are reported, also those in directories that are
   * created later.
   */
  watch(place: ContainedPath, request: WatchRequest, listener: WatchListener): Promise<FileWatch>
}

/**
 * An absolute path with `/` between its names and without `.` and `..`, and the directories that the path must be in. A path
 * whose text is already outside these directories is refused without touching the disk.
 */
export interface ContainedPath {
  readonly path: string
  readonly roots: readonly string[]
}

export interface Write {
  /**
   * Where the data goes. `truncate` (the default): the data replaces everything from `position` on. `append`: the data is
   * inserted `position` bytes before the end, and concurrent appends do not mix. `insert`: the data is inserted at
   * `position`. A position beyond the end counts as the end.
   */
  readonly mode?: 'truncate' | 'append' | 'insert'
  /** In bytes; 0 by default. */
  readonly position?: number
  /** The write fails if the file exists. */
  readonly createOnly?: boolean
  /**
   * The write fails if the file has another etag or does not exist. Of several concurrent writes with the same etag exactly
   * one succeeds.
   */
  readonly ifMatch?: string
}

export interface FileEntry {
  readonly name: string
  /** The type of the entry. For a symbolic link: the type of its target if the target may be read, else `file`. */
  readonly type: 'file' | 'directory'
}

export interface FileStat {
  /** The path with all symbolic links below the given root resolved. It begins with the root as it was given. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly size: number
  /** Milliseconds since 1970. */
  readonly mtime: number
  readonly ctime: number
  /** Changes with every change of the file. */
  readonly etag: string
}

export type Change =
  /** Creates a directory and its parents. It is no error if the directory exists. */
  | { readonly kind: 'make'; readonly place: ContainedPath }
  /** Removes a file or a directory. Of a symbolic link the link itself is removed, not its target. */
  | { readonly kind: 'remove'; readonly place: ContainedPath; readonly recursive: boolean }
  | {
      readonly kind: 'copy' | 'move'
      readonly from: ContainedPath
      readonly to: ContainedPath
      /** Whether an existing target is an error. If not, a file replaces a file; a directory is never replaced. */
      readonly failIfExists: boolean
    }

export interface WatchRequest {
  readonly recursive: boolean
  /** Returns whether changes of a path must be reported. The path is relative to the watched path. */
  wants(path: string): boolean
  /** Returns whether the content of a directory is of no interest. Such a directory is not watched. */
  skips(path: string): boolean
}

/**
 * `lost`: some changes were missed, because there were too many or the system has a limit. The listener must read everything
 * again.
 */
export type WatchListener = (changes: readonly FileChange[], lost: boolean) => void

export interface FileChange {
  /** Relative to the watched path; empty for the watched path itself. */
  readonly path: string
  readonly type: 'added' | 'updated' | 'deleted'
}

export interface FileWatch {
  end(): Promise<void>
}

/** The error of a file operation. The message is for users, and contains no path that they do not know. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly reason: FileReason

  constructor(reason: FileReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * `missing`: there is no such file. `outside`: the path is in none of its directories. `exists`: the target exists already.
 * `changed`: the etag differs. `unfit`: the file has the wrong type or size for the operation. `refused`: the system does not
 * allow it.
 */
export type FileReason = 'missing' | 'outside' | 'exists' | 'changed' | 'unfit' | 'refused'
