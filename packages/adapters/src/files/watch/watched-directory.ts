import type { Ear } from './notify-backend.ts'

/** A directory that is watched: what is known to be in it, and what was heard of it since it was last looked at. */
export class Folder {
  readonly parent: Folder | undefined
  readonly name: string
  /** All that is no directory; links are never followed. */
  readonly files = new Set<string>()
  readonly folders = new Map<string, Folder>()
  /** Not looked into, because nobody wants that. */
  readonly skipped: boolean
  ino = 0
  ear: Ear | undefined
  /** In what state its files were, where only looking again tells that they changed. */
  stamps: Map<string, number> | undefined
  /** Names of which something was heard, and whether that was more than a change of what is in a file. */
  heard: Map<string, boolean> | undefined
  /** Whether all of it is to be looked at. */
  unread = true
  /** Whether what was watched may be no longer what is there. */
  stale = false
  gone = false

  constructor(parent: Folder | undefined, name: string, skipped: boolean) {
    this.parent = parent
    this.name = name
    this.skipped = skipped
  }

  /** Relative to the one watched, which is empty. */
  get path(): string {
    return this.parent ? this.parent.pathOf(this.name) : ''
  }

  pathOf(name: string): string {
    const own = this.path
    return own === '' ? name : `${own}/${name}`
  }

  get names(): number {
    return this.files.size + this.folders.size
  }
}
