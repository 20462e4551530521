import type { Uri } from '@atrium/protocol/channel'
import type { Records } from '../ports/records.ts'

/**
 * Sessions that chats came to from others. What a session keeps apart is named after it, and those names stand in its
 * turns: so it is kept as long as a session is there that such a chat went to.
 */
export class ContentRetention {
  readonly #records: Records
  /** Each heir, with all whose content it may need. */
  readonly #holders = new Map<Uri, ReadonlySet<Uri>>()

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<ContentRetention> {
    const heirs = new ContentRetention(records)
    for (const [key, text] of await records.list(prefix))
      heirs.#holders.set(key.slice(prefix.length), new Set(text.split('\n')))
    return heirs
  }

  /** Whether somebody needs what a session kept apart, although it is gone. */
  isRetained(session: Uri): boolean {
    return [...this.#holders.values()].some((all) => all.has(session))
  }

  /** A chat goes from one session to another. */
  retain(to: Uri, from: Uri): void {
    const all = new Set([...this.#of(to), from, ...this.#of(from)])
    all.delete(to)
    if (all.size === this.#of(to).size) return
    this.#holders.set(to, all)
    this.#records.put(`${prefix}${to}`, [...all].join('\n'))
  }

  /** A session is no more. Gives those, itself perhaps among them, of which nothing is needed now if they are gone. */
  forget(session: Uri): readonly Uri[] {
    const all = [session, ...this.#of(session)]
    if (this.#holders.delete(session)) this.#records.delete(`${prefix}${session}`)
    return all.filter((uri) => !this.isRetained(uri))
  }

  #of(session: Uri): ReadonlySet<Uri> {
    return this.#holders.get(session) ?? none
  }
}

const none: ReadonlySet<Uri> = new Set()
const prefix = 'heir/'
