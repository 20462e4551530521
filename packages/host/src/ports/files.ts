/**
 * The files of the machine. Every path comes with the directories it must be in. An adapter checks that on the opened file,
 * not on the text of the path (S-28, S-29). Every adapter passes the suite in `files.contract.ts`.
 */
export interface Files {
  /** Reads a regular file. A file of more than `max` bytes is `unfit`. */
  read(place: ContainedPath, max: number): Promise<Uint8Array>
  /** Writes atomically: no reader sees a part of the data. */
  write(place: ContainedPath, data: Uint8Array, how?: Write): Promise<void>
  /** Lists a directory, in no order. A directory of more than `max` entries is `unfit`. */
  list(place: ContainedPath, max: number): Promise<readonly FileEntry[]>
  /** Returns the metadata of a file; of a symbolic link itself, unless `follow` is set. */
  stat(place: ContainedPath, follow: boolean): Promise<FileStat>
  change(change: Change): Promise<void>
  /** Reports changes from the moment it resolves, including all changes in directories that are created later. */
  watch(place: ContainedPath, request: WatchRequest, listener: WatchListener): Promise<FileWatch>
}

/**
 * An absolute path, with `/` between its names and without `.` and `..`, and the directories it must be in. A path that is
 * outside them by its text is refused without touching the disk.
 */
export interface ContainedPath {
  readonly path: string
  readonly roots: readonly string[]
}

export interface Write {
  /**
   * `truncate` (the default): the file up to `position`, then the data. `append`: the data inserted `position` bytes before
   * the end, undivided among concurrent appends. `insert`: the data inserted at `position`. A position beyond the end is
   * the end.
   */
  readonly mode?: 'truncate' | 'append' | 'insert'
  /** In bytes; 0 by default. */
  readonly position?: number
  /** Fails if the file exists. */
  readonly createOnly?: boolean
  /** Fails if the file has another etag, or is gone. Of several concurrent writes exactly one succeeds. */
  readonly ifMatch?: string
}

export interface FileEntry {
  readonly name: string
  /** For a symbolic link, the type of its target if the target may be read, else `file`. */
  readonly type: 'file' | 'directory'
}

export interface FileStat {
  /** The resolved path, below the root as it was given. */
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
  /** Creates a directory and its parents. It may exist already. */
  | { readonly kind: 'make'; readonly place: ContainedPath }
  /** Removes a symbolic link itself, and not its target. */
  | { readonly kind: 'remove'; readonly place: ContainedPath; readonly recursive: boolean }
  | {
      readonly kind: 'copy' | 'move'
      readonly from: ContainedPath
      readonly to: ContainedPath
      /** Otherwise a file replaces a file. A directory is never replaced. */
      readonly failIfExists: boolean
    }

export interface WatchRequest {
  readonly recursive: boolean
  /** Returns whether changes of a path are wanted. Paths are relative to the watched one. */
  wants(path: string): boolean
  /** Returns whether a directory's content is unwanted: then the directory is not watched. */
  skips(path: string): boolean
}

/** `lost`: some changes were missed, because of their number or a limit of the system. The listener must read everything again. */
export type WatchListener = (changes: readonly FileChange[], lost: boolean) => void

export interface FileChange {
  /** Relative to the watched path; empty for the watched path itself. */
  readonly path: string
  readonly type: 'added' | 'updated' | 'deleted'
}

export interface FileWatch {
  end(): Promise<void>
}

/** A failed file operation. The message is for users, and contains no path that they do not know. */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly reason: FileReason

  constructor(reason: FileReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * `missing`: no such file. `outside`: in none of the directories it must be in. `exists`: the target exists already.
 * `changed`: the etag differs. `unfit`: the wrong type or size for the operation. `refused`: the system does not allow it.
 */
export type FileReason = 'missing' | 'outside' | 'exists' | 'changed' | 'unfit' | 'refused'
