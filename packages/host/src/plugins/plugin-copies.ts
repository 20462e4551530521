import type { PluginFiles } from './plugin-files.ts'

/** Folders of this machine for copies of plugins. Only the host writes them, and a start of the host may empty them. */
export interface PluginCopies {
  /** The folder for the plugin with this digest, and its files. The folder need not exist. */
  at(digest: string): PluginCopy
  /** Writes a copy as a whole, in place of what is in its folder. A file that begins with `#!` is executable. */
  write(digest: string, files: readonly CopiedFile[]): Promise<void>
}

export interface PluginCopy {
  readonly path: string
  readonly files: PluginFiles
}

export interface CopiedFile {
  /** Relative to the folder, with `/`. It does not lead out of the folder. */
  readonly path: string
  readonly content: Uint8Array
}
