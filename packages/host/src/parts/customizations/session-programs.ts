import type { Uri } from '@atrium/protocol/channel'
import { pathOf } from '@atrium/protocol/file-uri'
import type { Place } from './consent.ts'
import type { Item } from './loaded.ts'
import { linesOf, programsIn, programsOf } from './programs.ts'
import type { Shared } from './shared.ts'
import { needsConsent } from './source.ts'

/** The copy of a client's plugin: its folder, or why there is none. */
interface Copied {
  readonly folder?: string
  readonly problem?: string
}

/** The programs of one session's customizations: whether they may run, and the folder that they run from. */
export class SessionPrograms {
  readonly #uri: Uri
  readonly #shared: Shared
  /** The copies of plugins of clients, by digest. */
  readonly #copies = new Map<string | undefined, Copied>()

  constructor(uri: Uri, shared: Shared) {
    this.#uri = uri
    this.#shared = shared
  }

  /**
   * Why the programs of a source or of a component may not or cannot run. Undefined if there are no programs, or if they may
   * run.
   */
  problem(item: Item, id: string): string | undefined {
    const { source, loaded } = item
    const component = loaded?.parts.components.find(({ child }) => child.id === id)
    if (component && linesOf(component).length === 0) return undefined
    const consent = this.#consentProblem(item, id)
    const { published } = source
    if (consent !== undefined || !published) return consent
    return this.#copies.get(loaded?.digest)?.problem
  }

  /**
   * Whether users have allowed an earlier content of these programs, but not the present one. Their decision then
   * does not hold any more.
   */
  isConsentLost({ source, loaded }: Item, id: string): boolean {
    if (!loaded || !needsConsent(source)) return false
    const component = loaded.parts.components.find(({ child }) => child.id === id)
    const programs = component ? programsIn(loaded, component) : programsOf(loaded)
    return this.#shared.consents.isOutdated(id, programs, this.#places)
  }

  /** The folder of a plugin on this machine. Undefined if a client's plugin has not been copied. */
  folderOf({ source: { uri, published }, loaded }: Item): string | undefined {
    if (published) return this.#copies.get(loaded?.digest)?.folder
    const named = pathOf(uri)
    return named.ok ? named.path : undefined
  }

  /**
   * Copies the plugin of a client to this machine, if a user has allowed one of its programs. Returns whether the problem that
   * users are shown has changed.
   */
  async copy(item: Item, when: 'always' | 'if missing'): Promise<boolean> {
    const { source, loaded } = item
    const { copies } = this.#shared
    const digest = loaded?.digest
    if (!copies || !source.published || !loaded || digest === undefined) return false
    const before = this.#copies.get(digest)
    if (when === 'if missing' && before?.folder !== undefined) return false
    const programs = loaded.parts.components.filter((each) => linesOf(each).length > 0)
    if (programs.every(({ child }) => this.#consentProblem(item, child.id) !== undefined)) return false
    const copied = await copies.folder(digest, source.files).then(
      (folder): Copied => ({ folder }),
      (error: unknown): Copied => ({ problem: copyProblem(error) }),
    )
    this.#copies.set(digest, copied)
    return copied.problem !== before?.problem
  }

  #consentProblem({ source, loaded }: Item, id: string): string | undefined {
    if (!loaded || !needsConsent(source)) return undefined
    const { consents } = this.#shared
    const all = programsOf(loaded)
    const whole = consents.problem(source.id, all, this.#places)
    const component = loaded.parts.components.find(({ child }) => child.id === id)
    if (!component) return whole
    const own = consents.problem(id, programsIn(loaded, component), this.#places)
    if (own === undefined) return undefined
    // `whole` and `own` say why a consent for the plugin or for the component is missing; undefined means that it is given.
    // If a user has allowed the whole plugin and it has changed since, `whole` says what has changed. Otherwise one of the
    // two consents is enough.
    return consents.isOutdated(source.id, all, this.#places) ? whole : whole && own
  }

  /** The places that a consent may be for: everywhere, the folder of the session, the session. */
  get #places(): readonly Place[] {
    const session = this.#shared.core.log.channel(this.#uri, 'session')
    return [undefined, session?.head.workingDirectories?.[0], this.#uri]
  }
}

function copyProblem(error: unknown): string {
  return `Its files could not be copied to the host. ${error instanceof Error ? error.message : String(error)}`
}
