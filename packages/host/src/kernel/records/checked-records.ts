import type { Records } from '../../ports/records.ts'
import { keyBefore, sealed, unsealed } from './checksum.ts'
import { kindOfRecord } from './kinds.ts'
import type { RecordKind } from './kinds.ts'

/**
 * The records of a store, each with a checksum. A damaged record never stops the host: it is kept apart, under a key that
 * begins with `damaged/`, and the host goes on without it, or with the text that its kind names. A derived record is built
 * again by the code that reads it.
 */
export class CheckedRecords implements Records {
  readonly #store: Records
  /** The name of the store, for people. */
  readonly #name: string
  readonly #report: (sentence: string) => void
  /** What was stored in the records that were set aside, by key. */
  readonly #aside = new Map<string, string>()
  /** The number of writes, by which a read notices that a record was replaced meanwhile. */
  #writes = 0

  constructor(store: Records, name: string, report: (sentence: string) => void) {
    this.#store = store
    this.#name = name
    this.#report = report
  }

  /**
   * Gives records whose keys have a flipped bit their keys back. Nobody asks for a key of no kind, so the record would be missing, and
   * what is missing may permit more. A sound record of no kind is of another build, and is left alone. Records of clients are asked for
   * one by one, so they are listed here. The other kinds that permit something are listed by the start.
   */
  async restoreKeys(): Promise<void> {
    const lost = (await this.#store.kinds?.())?.filter((kind) => !kindOfRecord(kind)) ?? []
    for (const kind of lost)
      for (const [key, stored] of await this.#store.list(kind)) {
        if (kindOfRecord(key) || unsealed(key, stored) !== undefined) continue
        if ((await this.#restored(key, stored)) === undefined) this.setAside(key, stored)
      }
    await this.list('client/')
  }

  async get(key: string): Promise<string | undefined> {
    const writes = this.#writes
    const stored = await this.#store.get(key)
    const text = stored === undefined || isOwn(key) ? stored : unsealed(key, stored)
    if (text !== undefined || stored === undefined) return text
    return writes === this.#writes ? this.setAside(key, stored) : this.get(key)
  }

  put(key: string, text: string): void {
    const kind = kindOfRecord(key)
    if (!kind) throw new Error(`the record ${JSON.stringify(key)} is of no kind: add one to recordKinds`)
    this.#writes++
    this.#store.put(key, kind.own ? text : sealed(key, text))
  }

  async list(prefix: string): Promise<readonly (readonly [key: string, text: string])[]> {
    const found: (readonly [string, string])[] = []
    for (const [key, stored] of await this.#store.list(prefix)) {
      const sound = isOwn(key) ? stored : unsealed(key, stored)
      const before = sound === undefined ? await this.#restored(key, stored) : key
      const text = sound ?? (await this.get(before ?? key))
      if (text !== undefined && (before ?? key).startsWith(prefix)) found.push([before ?? key, text])
    }
    return found
  }

  delete(key: string): void {
    this.#writes++
    this.#store.delete(key)
  }

  setAside(key: string, text: string): string | undefined {
    const kind = kindOfRecord(key)
    const instead = kind?.instead?.(key.slice(key.indexOf('/') + 1))
    if (!this.#aside.has(key)) this.#report(this.#sentence(key))
    this.#aside.set(key, text)
    this.put(`damaged/${key}`, text)
    if (instead === undefined) this.delete(key)
    else this.put(key, instead)
    return instead
  }

  setAsideIn(prefix: string): readonly (readonly [key: string, text: string])[] {
    return [...this.#aside].filter(([key]) => key.startsWith(prefix))
  }

  /** Stores a record under the key that it had before a bit of the key was flipped. Returns that key, if the record is there now. */
  async #restored(key: string, stored: string): Promise<string | undefined> {
    const before = keyBefore(key, stored)
    if (before === undefined || !kindOfRecord(before) || (await this.#store.get(before)) !== undefined)
      return undefined
    const damaged = `The key of the record ${JSON.stringify(before)} of the store in ${this.#name} was damaged.`
    this.#report(`${damaged} It was read as ${JSON.stringify(key)}, and is right again. Nothing is lost.`)
    this.#writes++
    this.#store.put(before, stored)
    this.#store.delete(key)
    return before
  }

  /** Names the store and the record, and says what is lost and what to do. */
  #sentence(key: string): string {
    const { lost, remedy, instead } = kindOfRecord(key) ?? ofNoKind
    const damaged = `The record ${JSON.stringify(key)} of the store in ${this.#name} is damaged.`
    const kept = `What is left of it is kept as ${JSON.stringify(`damaged/${key}`)}.`
    if (lost !== undefined) return `${damaged} Lost: ${lost}. What to do: ${remedy}. ${kept}`
    const done = instead ? 'It needs no text, so nothing is lost.' : 'It is built again.'
    return `${damaged} ${done} ${kept}`
  }
}

/** Reads a record. Sets it aside if it cannot be read. */
export async function readRecord<T>(
  records: Records,
  key: string,
  read: (text: string) => T,
): Promise<T | undefined> {
  const text = await records.get(key)
  return text === undefined ? undefined : readText(records, key, { text, read })
}

/** Reads the text of a record. Sets the record aside if it cannot be read, and reads what takes its place, if anything does. */
export function readText<T>(
  records: Records,
  key: string,
  { text, read }: { readonly text: string; readonly read: (text: string) => T },
): T | undefined {
  try {
    return read(text)
  } catch {
    const instead = records.setAside?.(key, text)
    return instead === undefined ? undefined : read(instead)
  }
}

const ofNoKind: RecordKind = { lost: 'what it was', remedy: 'nothing' }

function isOwn(key: string): boolean {
  return kindOfRecord(key)?.own === true
}
