/** What the build knows about the files of the page. It is written into the service worker. */
export interface Build {
  /** The paths of all files: `/` and those that it names or loads later. */
  readonly files: readonly string[]
  /** The SHA-256 of the page's HTML, in hexadecimal. It names the build, because the HTML names all other files. */
  readonly shell: string
}

/** The parts of the browser that keep the files. Tests give their own. */
export interface Platform {
  readonly caches: Pick<CacheStorage, 'open' | 'keys' | 'delete' | 'match'>
  readonly fetch: (path: string, options: RequestInit) => Promise<Response>
  readonly digest: (bytes: ArrayBuffer) => Promise<string>
  /** Resolves after this time. */
  readonly wait: (ms: number) => Promise<void>
}

/** How long a page that is opened waits for the host before the kept page is shown, in milliseconds. */
export const patienceMs = 3000

/** The number of builds whose files are kept. An open page of the build before may still load a part of itself. */
const keptBuilds = 2

const prefix = 'atrium-'

/**
 * The files of the page, kept in the browser so that the page opens without a host. Only files of the build are kept, under
 * the names that the build has given them. Nothing that a request or an answer of a person's session contains is ever kept.
 */
export class ShellCache {
  readonly #build: Build
  readonly #platform: Platform

  constructor(build: Build, platform: Platform) {
    this.#build = build
    this.#platform = platform
  }

  get #name(): string {
    return `${prefix}${this.#build.shell.slice(0, 16)}`
  }

  /**
   * Loads all files of the build. Fails, and keeps nothing, if the host has another build meanwhile: a mixture of two builds
   * would not work.
   */
  async install(): Promise<void> {
    const { caches, fetch, digest } = this.#platform
    await caches.delete(this.#name)
    const cache = await caches.open(this.#name)
    try {
      for (const path of this.#build.files) {
        const response = await fetch(path, { cache: 'no-cache', credentials: 'omit', redirect: 'error' })
        if (!response.ok) throw new Error(`the host answers ${response.status} to ${path}`)
        if (path === '/' && (await digest(await response.clone().arrayBuffer())) !== this.#build.shell)
          throw new Error('the host has another build of the page')
        await cache.put(path, response)
      }
    } catch (error) {
      await caches.delete(this.#name)
      throw error
    }
  }

  /** Forgets builds that no open page can need any more. */
  async activate(): Promise<void> {
    const { caches } = this.#platform
    const builds = (await caches.keys()).filter((name) => name.startsWith(prefix) && name !== this.#name)
    // The names come in the order in which the caches were made.
    const old = builds.slice(0, Math.max(0, builds.length - (keptBuilds - 1)))
    await Promise.all(old.map((name) => caches.delete(name)))
  }

  /**
   * The answer to a request of a page. Undefined: the request is not for a file of the page, and goes to the host as if there
   * was no worker.
   */
  answer(method: string, url: URL): (() => Promise<Response>) | undefined {
    const { pathname: path, search } = url
    if (method !== 'GET' || search !== '') return undefined
    if (path === '/') return () => this.#page()
    // The name of an asset contains a hash of its content. So a kept asset is always right, even if it is one of
    // another build.
    if (path.startsWith('/assets/') || this.#build.files.includes(path)) return () => this.#file(path)
    return undefined
  }

  /** The page as the host has it now. If no host answers in time, the kept one. */
  async #page(): Promise<Response> {
    const { caches, fetch, wait } = this.#platform
    const late = wait(patienceMs).then(() => undefined)
    const asked = fetch('/', { cache: 'no-cache', credentials: 'omit' })
    const answered = asked.then(
      // A proxy answers with an error while the host behind it is down. The kept page is shown then, too.
      (response) => (response.status < 500 ? response : undefined),
      () => undefined,
    )
    const answer = await Promise.race([answered, late])
    if (answer) return answer
    const cache = await caches.open(this.#name)
    return (await cache.match('/')) ?? asked
  }

  async #file(path: string): Promise<Response> {
    const { caches, fetch } = this.#platform
    const kept = await caches.match(path)
    return kept ?? fetch(path, { credentials: 'omit' })
  }
}
