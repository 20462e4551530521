import type { Chance } from '../../chance.ts'
import { paths } from './folder.ts'
import type { SimulatedFolder, Texts } from './folder.ts'

/** Who changes a file. A turn is named by its id: no two turns of a run have the same id, apart from copies in forks. */
export interface Editor {
  /** The turn that changes the file. Undefined for a person, and for another host. */
  readonly turnId?: string
  /**
   * Turns of which a call runs at this moment that names a file. The host cannot tell what such a call writes into the file
   * from what others write into it.
   */
  readonly callers: (path: string) => readonly string[]
  /** The files to choose from. Absent: any file. */
  readonly among?: readonly string[]
}

/**
 * The words in the files of the folder. Every edit writes a word that was never written before, so that a lost word tells whose
 * work was lost.
 */
export class Words {
  readonly #folder: SimulatedFolder
  readonly #name: () => number
  /** The turns that may have written a word, or moved it to another file. */
  readonly #writers = new Map<string, Set<string>>()
  readonly #onRemoved: (words: ReadonlySet<string>) => void

  constructor(folder: SimulatedFolder, name: () => number, onRemoved: (words: ReadonlySet<string>) => void) {
    this.#folder = folder
    this.#name = name
    this.#onRemoved = onRemoved
  }

  /** Whether a turn may have written a word. */
  isBy(word: string, turnId: string): boolean {
    return this.#writers.get(word)?.has(turnId) === true
  }

  /** Changes the files at random. */
  edit({ turnId, callers, among = paths }: Editor, chance: Chance): void {
    const before = wordsOf(this.#folder.texts)
    const path = chance.pick(among) ?? 'one'
    const to = chance.pick(among) ?? path
    const own = turnId === undefined ? [] : [turnId]
    const by = (...written: readonly string[]) => [...own, ...written.flatMap(callers)]
    const text = this.#folder.texts.get(path)
    const kind = chance.below(10)
    if (kind === 0) this.#folder.write(path, undefined)
    else if (kind === 1 && text !== undefined) this.#move({ path, to, text }, by(path, to))
    else {
      const word = `w${this.#name()}`
      this.#wrote(word, by(path))
      this.#folder.write(path, kind < 4 || text === undefined ? `${word}\n` : `${text}${word}\n`)
    }
    const after = wordsOf(this.#folder.texts)
    this.#onRemoved(new Set([...before].filter((word) => !after.has(word))))
  }

  #move(
    { path, to, text }: { readonly [name in 'path' | 'to' | 'text']: string },
    by: readonly string[],
  ): void {
    if (to === path) return
    for (const word of wordsIn(text)) this.#wrote(word, by)
    this.#folder.write(to, text)
    this.#folder.write(path, undefined)
  }

  #wrote(word: string, by: readonly string[]): void {
    this.#writers.set(word, new Set([...(this.#writers.get(word) ?? []), ...by]))
  }
}

export function wordsIn(text: string): readonly string[] {
  return text.split('\n').filter((word) => word !== '')
}

export function wordsOf(texts: Texts): ReadonlySet<string> {
  return new Set([...texts.values()].flatMap(wordsIn))
}
