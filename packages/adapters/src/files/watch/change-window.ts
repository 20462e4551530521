import type { FileChange, WatchListener } from '@atrium/host/ports/files'

type Type = FileChange['type']

/** The changes within one interval, which are reported together. Several changes of one path are merged into one. */
export class ChangeWindow {
  readonly #wants: (path: string) => boolean
  readonly #maxChanges: number
  readonly #types = new Map<string, Type>()
  #lost = false

  constructor(wants: (path: string) => boolean, maxChanges: number) {
    this.#wants = wants
    this.#maxChanges = maxChanges
  }

  add(path: string, type: Type): void {
    if (this.#lost || (path !== '' && !this.#wants(path))) return
    const before = this.#types.get(path)
    const now = before === undefined ? type : merged[before][type]
    if (now === undefined) this.#types.delete(path)
    else this.#types.set(path, now)
    if (this.#types.size > this.#maxChanges) this.markLost()
  }

  /**
   * Called when changes were lost. The window then reports only the loss and no single changes, because the listener must
   * read everything again.
   */
  markLost(): void {
    this.#lost = true
    this.#types.clear()
  }

  /** Reports the deletion of the watched path instead of all changes below it. */
  targetDeleted(): void {
    this.#types.clear()
    this.#lost = false
    this.#types.set('', 'deleted')
  }

  /** Calls the listener if anything changed. */
  deliverTo(listener: WatchListener): void {
    if (this.#lost) listener([], true)
    else if (this.#types.size > 0)
      listener(
        Array.from(this.#types, ([path, type]) => ({ path, type })),
        false,
      )
  }
}

/** Merges two changes of one path into one. Undefined: the second change undoes the first. */
const merged: { readonly [before in Type]: { readonly [then in Type]: Type | undefined } } = {
  added: { added: 'added', updated: 'added', deleted: undefined },
  updated: { added: 'updated', updated: 'updated', deleted: 'deleted' },
  deleted: { added: 'updated', updated: 'updated', deleted: 'deleted' },
}
