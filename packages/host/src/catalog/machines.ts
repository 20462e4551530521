import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'
import type { Records } from '../ports/records.ts'
import type { Catalog } from './catalog.ts'
import { RecordMap, textFormat } from '../kernel/record-map.ts'
import { defineKey } from '../kernel/key.ts'

/** The machine of a node that shares its store with others. */
export interface Machine {
  readonly name: string
  /** Folders that every machine which names them sees alike, such as those of a file server. */
  readonly sharedFolders: readonly Uri[]
}

/**
 * Records for each session the machine that has its directories. On another machine, the same path may name another
 * folder, or none. A host that does not share its store has no machine name, and records nothing.
 */
export class Machines {
  readonly #machine: Machine | undefined
  readonly #catalog: Catalog
  readonly #names: RecordMap<string>

  private constructor(machine: Machine | undefined, catalog: Catalog, names: RecordMap<string>) {
    this.#machine = machine
    this.#catalog = catalog
    this.#names = names
  }

  static async open(records: Records, catalog: Catalog, machine: Machine | undefined): Promise<Machines> {
    return new Machines(machine, catalog, await RecordMap.open(records, 'machine/', textFormat))
  }

  /** Records that the directories of a new session are on this machine. */
  assign(session: Uri): void {
    if (this.#machine) this.#names.set(session, this.#machine.name)
  }

  forget(session: Uri): void {
    this.#names.delete(session)
  }

  /** The sentence for whoever wants to use the directories of a session; undefined if they are on this machine. */
  problem(session: Uri): string | undefined {
    const name = this.#names.get(session)
    if (!this.#machine || name === undefined || name === this.#machine.name) return undefined
    const { workingDirectories = [] } = this.#catalog.get(session) ?? {}
    if (workingDirectories.every((uri) => this.#isShared(uri))) return undefined
    return (
      `The folders of this session are on the machine ${JSON.stringify(name)}, and this is ` +
      `${JSON.stringify(this.#machine.name)}. It can be read here, and works again when the host runs on that machine.`
    )
  }

  /** The directories of the sessions that are on this machine. */
  get directories(): ReadonlySet<Uri> {
    if (!this.#machine) return this.#catalog.directories
    const here = this.#catalog.all.filter(({ resource }) => this.problem(resource) === undefined)
    return new Set(here.flatMap(({ workingDirectories }) => workingDirectories ?? []))
  }

  #isShared(uri: Uri): boolean {
    const named = pathOf(uri)
    return (this.#machine?.sharedFolders ?? []).some((folder) => {
      const shared = pathOf(folder)
      return (
        named.ok && shared.ok && `${named.path}/`.startsWith(shared.path === '/' ? '/' : `${shared.path}/`)
      )
    })
  }
}

export const machinesOf = defineKey<Machines>('machines')
