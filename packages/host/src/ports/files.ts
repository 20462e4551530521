/**
 * Files of the machine. Every path comes with the directories it must be in; whether it is in one of them is decided by
 * what is opened, never by the text of the path (S-28, S-29). Every adapter passes the suite in `files.contract.ts`.
 */
export interface Files {
  /** The bytes of a regular file. One that has more than `most` is unfit. */
  read(place: ContainedPath, most: number): Promise<Uint8Array>
  /** All of it or nothing: nobody ever sees a half. */
  write(place: ContainedPath, data: Uint8Array, how?: Write): Promise<void>
  /** What a directory holds, in no order. One with more than `most` entries is unfit. */
  list(place: ContainedPath, most: number): Promise<readonly FileEntry[]>
  /** What is known of something: of a link itself, unless it is followed. */
  stat(place: ContainedPath, follow: boolean): Promise<FileStat>
  change(change: Change): Promise<void>
  /** Tells of changes from the moment it resolves. A directory that comes later is watched from its first moment on. */
  watch(place: ContainedPath, wish: WatchRequest, tell: WatchListener): Promise<FileWatch>
}

/**
 * An absolute path with `/` between its names, none of them `.` or `..`; and the directories it must be in. It is in one by its text
 * too: what is outside by that is refused unseen.
 */
export interface ContainedPath {
  readonly path: string
  readonly roots: readonly string[]
}

export interface Write {
  /**
   * `truncate`: what is there up to `position`, then the data. `append`: the data, `position` bytes before the end; in
   * one piece among those who append. `insert`: the data at `position`, and then what was there. A position beyond the end is
   * the end.
   */
  readonly mode?: 'truncate' | 'append' | 'insert'
  /** In bytes; 0 where it is absent. */
  readonly position?: number
  /** Refused where something is there. */
  readonly createOnly?: boolean
  /** Refused where the file's etag is another, or there is none any more. Of several at once exactly one wins. */
  readonly ifMatch?: string
}

export interface FileEntry {
  readonly name: string
  /** A link is what it leads to, where that may be seen. */
  readonly type: 'file' | 'directory'
}

export interface FileStat {
  /** Where it really is, in the words of the root that it is in. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink'
  readonly size: number
  /** Milliseconds since 1970. */
  readonly mtime: number
  readonly ctime: number
  /** Another one after every change. */
  readonly etag: string
}

export type Change =
  /** With the directories above it. It may be there already. */
  | { readonly kind: 'make'; readonly place: ContainedPath }
  /** A link goes, and not what it leads to. */
  | { readonly kind: 'remove'; readonly place: ContainedPath; readonly recursive: boolean }
  | {
      readonly kind: 'copy' | 'move'
      readonly from: ContainedPath
      readonly to: ContainedPath
      /** Else a file takes the place of a file; nothing ever takes the place of a directory. */
      readonly failIfExists: boolean
    }

export interface WatchRequest {
  readonly recursive: boolean
  /** Whether anybody wants to hear of a path, which is relative to the one watched. */
  wants(path: string): boolean
  /** Whether nobody wants to hear of anything in a directory: then it is not looked into. */
  skips(path: string): boolean
}

/** `lost`: changes were missed, more came than could be told, or the system could not watch everything: look again at all. */
export type WatchListener = (changes: readonly FileChange[], lost: boolean) => void

export interface FileChange {
  /** Relative to the one watched; empty for that itself. */
  readonly path: string
  readonly type: 'added' | 'updated' | 'deleted'
}

export interface FileWatch {
  end(): Promise<void>
}

/** Why something was not done with a file, in words for people that name no path which they do not know. */
export class FileError extends Error {
  override readonly name = 'FileProblem'
  readonly reason: FileReason

  constructor(reason: FileReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * `missing`: there is nothing. `outside`: it is in none of the directories it must be in. `exists`: something is there
 * already. `changed`: it has another etag. `unfit`: it is not of the kind, or of the size, that this can be done with.
 * `refused`: the system does not allow it.
 */
export type FileReason = 'missing' | 'outside' | 'exists' | 'changed' | 'unfit' | 'refused'
