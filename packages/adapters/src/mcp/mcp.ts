import type { McpServer, McpServerConfig, McpServers, McpUser } from '@atrium/host/ports/mcp'
import { limitsOf } from './context.ts'
import type { Era, McpContext } from './context.ts'
import { PooledServer } from './pooled-server.ts'
import { ServerUse } from './use.ts'

/**
 * The MCP servers of the host, in one pool. Sessions share a server if its configuration is the same, and if the
 * sessions have the same principal and the same consent (the hash of what a person agreed to). A legacy server is
 * shared only within a session, because its questions name neither a call nor a session.
 */
export class McpPool implements McpServers {
  readonly #context: McpContext
  /** The servers by key. Each has its uses: one `ServerUse` for each session that opened it. */
  readonly #servers = new Map<string, Entry>()
  /** Whether servers are `modern` or `legacy`, by the key that `keyOf` returns. The oldest entries are forgotten. */
  readonly #eras = new Map<string, Era>()
  readonly #ending = new Set<Promise<unknown>>()

  constructor(context: McpContext) {
    this.#context = context
  }

  open(config: McpServerConfig, user: McpUser): McpServer {
    const entry = this.#entryFor(config, user)
    const use = new ServerUse(config, user, entry.server, {
      released: (each) => this.#stopUnwanted(each),
      closed: (each) => this.#remove(each),
    })
    entry.uses.add(use)
    return use
  }

  async close(): Promise<void> {
    const entries = [...this.#servers.values()]
    for (const use of entries.flatMap(({ uses }) => [...uses])) use.close()
    await Promise.all(this.#ending)
  }

  /** The number of servers that run. */
  get running(): number {
    return [...this.#servers.values()].filter(({ server }) => server.isRunning).length
  }

  #entryFor(config: McpServerConfig, user: McpUser): Entry {
    const shared = keyOf(config, user)
    const era = this.#eras.get(shared)
    const key = era === 'legacy' ? `${shared}\n${user.session}` : shared
    const found = this.#servers.get(key)
    if (found) return found
    const uses = new Set<ServerUse>()
    const entry: Entry = { key, uses, server: new PooledServer(config, this.#side(shared, uses)) }
    this.#servers.set(key, entry)
    return entry
  }

  #side(shared: string, uses: ReadonlySet<ServerUse>) {
    return {
      context: this.#context,
      era: () => this.#eras.get(shared),
      // A server asks this when it is about to start, and `running` then includes the server itself.
      mayStart: () => this.running <= limitsOf(this.#context).mcpServers,
      // All sessions that share a server have the same principal, and so the same tokens.
      token: (resource: string) => [...uses].map(({ user }) => user.token(resource)).find(Boolean),
      isWanted: () => [...uses].some(({ isWanted }) => isWanted),
      changed: () => {
        for (const use of uses) use.tell()
      },
      connected: (era: Era) => this.#learn(shared, era),
    }
  }

  /**
   * Notes whether a server is `modern` or `legacy`. If a legacy server is shared, each session except the first gets a server
   * of its own.
   */
  #learn(shared: string, era: Era): void {
    this.#eras.delete(shared)
    this.#eras.set(shared, era)
    for (const oldest of this.#eras.keys()) if (this.#eras.size > maxEras) this.#eras.delete(oldest)
    const entry = this.#servers.get(shared)
    const [first] = entry?.uses ?? []
    if (era !== 'legacy' || !entry || !first) return
    this.#servers.delete(shared)
    const key = `${shared}\n${first.user.session}`
    this.#servers.set(key, { ...entry, key })
    for (const use of entry.uses) {
      if (use.user.session === first.user.session) continue
      entry.uses.delete(use)
      const own = this.#entryFor(use.config, use.user)
      own.uses.add(use)
      use.move(own.server)
      // The new server of the session is started now. If this fails, its state shows the failure. A call that waits
      // for the earlier server then goes on with the new one.
      if (use.isWanted) own.server.connected(false).catch(() => {})
    }
  }

  #entryOf(use: ServerUse): Entry | undefined {
    return [...this.#servers.values()].find(({ uses }) => uses.has(use))
  }

  #stopUnwanted(use: ServerUse): void {
    const uses = this.#entryOf(use)?.uses ?? []
    if ([...uses].some(({ isWanted }) => isWanted)) return
    const ending = use.server.stop()
    this.#ending.add(ending)
    void ending.finally(() => this.#ending.delete(ending))
  }

  #remove(use: ServerUse): void {
    const entry = this.#entryOf(use)
    this.#stopUnwanted(use)
    entry?.uses.delete(use)
    if (entry?.uses.size === 0) this.#servers.delete(entry.key)
  }
}

interface Entry {
  readonly key: string
  readonly server: PooledServer
  readonly uses: Set<ServerUse>
}

/** Returns a key that is the same for uses that may share a server. */
function keyOf(config: McpServerConfig, { principal, consent }: McpUser): string {
  const sorted = (values: object = {}) => Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const parts =
    'command' in config
      ? [config.command, config.args ?? [], sorted(config.env), config.cwd ?? null]
      : [config.url, config.type ?? null, sorted(config.headers)]
  return JSON.stringify([parts, principal, consent])
}

const maxEras = 1000
