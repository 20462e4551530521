import type { FormatName } from '../../plugins/formats.ts'
import type { LoadedParts } from '../../plugins/plugin.ts'
import type { Source } from './source.ts'

/** The content of a source, which is a plugin or a folder. */
export interface Loaded {
  readonly parts: LoadedParts
  /** The format of a plugin, and the name and the version that it has given itself. */
  readonly format?: FormatName
  readonly name?: string
  readonly version?: string
  /** The digest of everything that its programs consist of. Absent if it has no programs, or cannot be read as a whole. */
  readonly digest?: string
}

/** A source of a session's customizations and, once it was read, its content. */
export interface Item {
  readonly source: Source
  readonly loaded?: Loaded | undefined
}
