import { defineKey } from '../../kernel/key.ts'
import { part } from '../../kernel/part.ts'
import type { Files } from '../../ports/files.ts'
import type { Vcs } from '../../ports/vcs.ts'
import { FileListings } from './file-listing.ts'

interface Ports {
  readonly files?: Files
  readonly vcs?: Vcs
}

export const listingsOf = defineKey<FileListings>('listings')

/** The files of directories, for completions and for the tools of agents. */
export const listings = part<FileListings, Ports>({
  name: 'listings',
  key: listingsOf,
  open: ({ world, limits }, { files, vcs }) => new FileListings({ files, vcs }, world, limits),
})
