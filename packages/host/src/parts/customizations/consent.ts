import type { Uri } from '@atrium/protocol/channel'
import { RecordMap } from '../../kernel/record-map.ts'
import type { RecordFormat } from '../../kernel/record-map.ts'
import type { Records } from '../../ports/records.ts'

/**
 * The programs that a customization runs. `digest`: a hash that changes when the programs change; empty if the files
 * cannot be read as a whole. `lines`: the command lines, for users.
 */
export interface Programs {
  readonly digest: string
  readonly lines: readonly string[]
}

/** The place that a consent holds for: all sessions (undefined), the sessions in a folder, or one session. */
export type Place = Uri | undefined

/**
 * The programs that users have allowed to run. A program that comes from a folder or from a client runs only after a user
 * has enabled it (S-34). The consent holds for exactly that content: after a change a user must enable it again (S-37).
 */
export class Consents {
  readonly #given: RecordMap<Programs>

  private constructor(given: RecordMap<Programs>) {
    this.#given = given
  }

  static async open(records: Records): Promise<Consents> {
    return new Consents(await RecordMap.open(records, 'consent/', programsFormat))
  }

  /**
   * Returns why programs may not run, for users. Undefined if there are no programs, or if a user has allowed exactly
   * these programs in one of the places.
   */
  problem(id: string, programs: Programs, places: readonly Place[]): string | undefined {
    if (programs.lines.length === 0) return undefined
    if (programs.digest === '') return unreadable
    const given = this.#givenIn(id, places)
    if (given.some(({ digest }) => digest === programs.digest)) return undefined
    const [before] = given
    return before
      ? changedProblem(before, programs)
      : `To allow these programs, enable this customization: ${listed(programs)}`
  }

  /** Whether users have allowed an earlier content of these programs, but not the present one. */
  isOutdated(id: string, programs: Programs, places: readonly Place[]): boolean {
    const given = this.#givenIn(id, places)
    return given.length > 0 && !given.some(({ digest }) => digest === programs.digest)
  }

  give(id: string, programs: Programs, place: Place): void {
    this.#given.set(keyOf(id, place), programs)
  }

  revoke(id: string, place: Place): void {
    this.#given.delete(keyOf(id, place))
  }

  #givenIn(id: string, places: readonly Place[]): readonly Programs[] {
    return places.flatMap((place) => this.#given.get(keyOf(id, place)) ?? [])
  }

  /** Forgets the consents for one session. */
  forget(session: Uri): void {
    const suffix = `,${JSON.stringify(session)}]`
    for (const key of this.#given.keys()) if (key.endsWith(suffix)) this.#given.delete(key)
  }
}

const unreadable =
  'Its programs may not run, because the host cannot read all of its files: one is unreadable, not a regular file or ' +
  'outside of it, or they are too many or too large.'

/**
 * Tells users how the present programs differ from those that they have allowed: one line for each removed or added
 * program.
 */
function changedProblem(before: Programs, now: Programs): string {
  const gone = before.lines.filter((line) => !now.lines.includes(line)).map((line) => `- ${line}`)
  const added = now.lines.filter((line) => !before.lines.includes(line)).map((line) => `+ ${line}`)
  const changes = gone.length + added.length > 0 ? [...gone, ...added] : now.lines.map((line) => `  ${line}`)
  return [
    'These programs have changed since they were allowed. To allow the new ones, enable this customization again:',
    ...changes,
  ].join('\n')
}

function listed({ lines }: Programs): string {
  return lines.length === 1 ? String(lines[0]) : lines.map((line) => `\n  ${line}`).join('')
}

const programsFormat: RecordFormat<Programs> = {
  // The host has written the record, so the shape is trusted.
  read: (text): Programs => JSON.parse(text),
  write: (programs) => JSON.stringify(programs),
}

function keyOf(id: string, place: Place): string {
  return JSON.stringify(place === undefined ? [id] : [id, place])
}
