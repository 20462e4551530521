/**
 * Captures of folders. A capture is the content of all files of a folder at one moment, without the files that git would
 * ignore. Paths are relative to the folder, with forward slashes. Every adapter passes the suite in `captures.contract.ts`.
 */
export interface Captures {
  /**
   * Takes a capture. When the promise resolves, the capture survives a crash. Rejects with a `CaptureFailed` if there can be
   * no capture. Writes nothing into the folder and nothing into its repository.
   */
  take(directory: string, options: CaptureOptions): Promise<Capture>
  /**
   * The differences between two captures of one folder, ordered by path. Renames are found. The earlier capture may
   * be a commit, in which git may have stored files in another form than on the disk, for example with other line
   * ends. A file that differs only by such a conversion is not listed. If nobody can tell whether a file differs, the
   * file is listed, and its earlier content is omitted. Rejects with a `CaptureFailed` if one of the captures does
   * not exist any more.
   */
  compare(before: string, after: string): Promise<readonly CapturedChange[]>
  /** The bytes of a content. Rejects with a `CaptureFailed` if they were omitted or do not exist any more. */
  read(content: string): Promise<Uint8Array>
  /**
   * Writes and deletes files: all of them or none, even if the host is killed meanwhile. A file that does not have the
   * content and mode in `expected` is left as it is, and reported. Rejects with a `CaptureFailed` if nothing was changed,
   * for example because the disk is full.
   */
  apply(directory: string, edits: readonly CapturedEdit[]): Promise<Applied>
  /**
   * Like `apply`, but in several folders: the edits of all folders or none, even if the host is killed meanwhile.
   * Returns a result for each folder.
   */
  applyAll(groups: readonly FolderEdits[]): Promise<readonly Applied[]>
  /**
   * Finishes what `apply` or `applyAll` had begun before the host was killed, or takes it back if no file was changed
   * yet. A file that somebody has changed meanwhile is left as it is, and reported. Called once, before any `apply`.
   */
  recover(): Promise<readonly Applied[]>
  /**
   * Deletes the data that no capture in `kept` needs. A capture whose `take` resolves after this call also stays,
   * because `kept` could not have named it.
   */
  collect(kept: ReadonlySet<string>): Promise<void>
}

export interface CaptureOptions {
  /**
   * `files`: what is on the disk now. `head`: the commit that is checked out. `branch`: the commit at which the
   * current branch left its upstream branch or the main branch, else the commit that is checked out. If no commit is
   * checked out, the capture has no files. The capture of a commit is only a name: it lasts as long as the repository
   * has the commit.
   */
  readonly of: 'files' | 'head' | 'branch'
  readonly budget: CaptureBudget
  readonly signal: AbortSignal
}

/** What a capture may cost. Only files that are not stored yet count. */
export interface CaptureBudget {
  /** The maximum number of bytes of all files that the capture reads. The capture fails if there are more. */
  readonly bytes: number
  /** The maximum number of files that the capture reads. The capture fails if there are more. */
  readonly files: number
  /** The maximum number of bytes of one file. A larger file is omitted. */
  readonly fileBytes: number
}

export interface Capture {
  /** Two captures of one folder with the same files have the same id. */
  readonly id: string
  readonly directory: string
  /** The number of bytes that this capture has added to the stored captures on the disk. */
  readonly bytes: number
  /** The files whose contents the capture does not have, in the order of paths. */
  readonly omitted: readonly Omission[]
}

/**
 * A path whose content a capture does not have, or that `apply` or an undo did not change, and a sentence that says
 * why.
 */
export interface Omission {
  readonly path: string
  readonly reason: string
}

export interface CapturedChange {
  readonly path: string
  /** Absent if the file was added. */
  readonly before?: CapturedFile
  /** Absent if the file was deleted. */
  readonly after?: CapturedFile
  /** The path of `before`, if the file was renamed. */
  readonly oldPath?: string
  /** The number of added lines. Absent if a side is binary or omitted. */
  readonly added?: number
  /** The number of removed lines. Absent if a side is binary or omitted. */
  readonly removed?: number
  /** True if one of the sides is not text. */
  readonly binary?: boolean
}

export interface CapturedFile {
  /** The name of the content, for `read`. Equal contents of one folder have equal names. */
  readonly content: string
  /** A symbolic link has its target as content. */
  readonly mode: '100644' | '100755' | '120000'
  readonly size: number
  /** A sentence that says why the content is not stored. The name of such a content changes when the file changes. */
  readonly omitted?: string
}

export interface CapturedEdit {
  readonly path: string
  /** The file that the path must have before the edit. Absent: the path must have no file. */
  readonly expected?: CapturedFile
  /** The file that the path gets. Absent: the file is deleted. */
  readonly wanted?: CapturedFile | NewFile
}

/** The edits of one folder. */
export interface FolderEdits {
  readonly directory: string
  readonly edits: readonly CapturedEdit[]
}

/** A file whose content is in no capture. */
export interface NewFile {
  readonly bytes: Uint8Array
  readonly mode: CapturedFile['mode']
}

export interface Applied {
  readonly directory: string
  /** Paths that now have the wanted file, or no file if none was wanted. */
  readonly done: readonly string[]
  readonly left: readonly Omission[]
}

/** The error if there is no capture, or if nothing was applied. The message says why, in a sentence for users. */
export class CaptureFailed extends Error {
  override readonly name: string = 'CaptureFailed'
}

/**
 * The error for a folder that is never captured, such as the home folder. A turn does not report this error, because every turn
 * in that folder would.
 */
export class CaptureRefused extends CaptureFailed {
  override readonly name = 'CaptureRefused'
}
