import type { FileChange, WatchListener } from '@atrium/host/ports/files'

type Type = FileChange['type']

/** What happened to the paths of a watch in one window: each is told once, as the difference that it makes. */
export class Changes {
  readonly #wants: (path: string) => boolean
  readonly #most: number
  readonly #types = new Map<string, Type>()
  #lost = false

  constructor(wants: (path: string) => boolean, most: number) {
    this.#wants = wants
    this.#most = most
  }

  add(path: string, type: Type): void {
    if (this.#lost || (path !== '' && !this.#wants(path))) return
    const before = this.#types.get(path)
    const now = before === undefined ? type : merged[before][type]
    if (now === undefined) this.#types.delete(path)
    else this.#types.set(path, now)
    if (this.#types.size > this.#most) this.lose()
  }

  /** Whoever hears that looks at everything again, so single changes say no more. */
  lose(): void {
    this.#lost = true
    this.#types.clear()
  }

  /** What is watched is itself gone: nothing below it is worth a word. */
  goneAltogether(): void {
    this.#types.clear()
    this.#lost = false
    this.#types.set('', 'deleted')
  }

  tell(told: WatchListener): void {
    if (this.#lost) told([], true)
    else if (this.#types.size > 0)
      told(
        Array.from(this.#types, ([path, type]) => ({ path, type })),
        false,
      )
  }
}

/** What two changes of one path are together; nothing where it is as it was before both. */
const merged: { readonly [before in Type]: { readonly [then in Type]: Type | undefined } } = {
  added: { added: 'added', updated: 'added', deleted: undefined },
  updated: { added: 'updated', updated: 'updated', deleted: 'deleted' },
  deleted: { added: 'updated', updated: 'updated', deleted: 'deleted' },
}
