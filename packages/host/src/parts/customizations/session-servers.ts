import type { Uri } from '@atrium/protocol/channel'
import type { OAuthClient, ProtectedResourceMetadata } from '@atrium/protocol/common/auth'
import type { Customization, McpServerState } from '@atrium/protocol/session/customization'
import type { ServerTools } from '../../catalog/customizing.ts'
import type { McpServer, McpServerConfig, McpServers, McpUser } from '../../ports/mcp.ts'

/** An MCP server that a session may use: the id and the name of its customization, and the way to reach it. */
export interface ServerSetting {
  readonly id: string
  readonly name: string
  readonly config: McpServerConfig
  /** The digest of the programs of the server's plugin. Empty for a server in the host's settings. */
  readonly consent: string
}

interface Use {
  readonly setting: ServerSetting
  readonly server: McpServer
}

/** The session that uses servers: its URI, whom it acts for, and what is done when a server changes. */
export interface ServerUser extends Pick<McpUser, 'principal' | 'token'> {
  readonly session: Uri
  changed(id: string, state: McpServerState): void
}

/** A server that needs an authorization before it can start. */
export interface WaitingServer {
  readonly server: McpServer
  readonly resource: ProtectedResourceMetadata
  /** The client that was registered by hand for this server. */
  readonly client?: OAuthClient | undefined
}

/** The MCP servers that the host runs for one session. */
export class SessionServers {
  readonly #servers: McpServers
  readonly #user: ServerUser
  #uses: readonly Use[] = []

  constructor(servers: McpServers, user: ServerUser) {
    this.#servers = servers
    this.#user = user
  }

  /** Opens these servers and closes the others. A server with the same setting as before stays. Nothing is started. */
  use(settings: readonly ServerSetting[]): void {
    const kept = this.#uses.filter(({ setting }) => settings.some((each) => same(each, setting)))
    for (const use of this.#uses) if (!kept.includes(use)) use.server.close()
    this.#uses = settings.map(
      (setting) => kept.find((use) => same(use.setting, setting)) ?? { setting, server: this.#open(setting) },
    )
  }

  /**
   * Starts all servers. Resolves when each is ready or has failed. A server that has failed before, or that is being started
   * already, is not waited for, because it would delay every turn.
   */
  async start(): Promise<void> {
    const started = this.#uses.flatMap(({ server }) => {
      const { kind } = server.state
      const start = server.start().catch(() => {})
      return kind === 'stopped' || kind === 'ready' ? [start] : []
    })
    await Promise.all(started)
  }

  /** The servers that wait for a token of this resource, and what each waits for. */
  waitingFor(wanted: string): readonly WaitingServer[] {
    return this.#uses.flatMap(({ server, setting: { config } }) => {
      const { state } = server
      const client = 'url' in config ? config.oauthClient : undefined
      return state.kind === 'authRequired' && state.resource.resource === wanted
        ? [{ server, resource: state.resource, client }]
        : []
    })
  }

  find(id: string): McpServer | undefined {
    return this.#uses.find(({ setting }) => setting.id === id)?.server
  }

  /** The tools of the servers that are ready. */
  get tools(): readonly ServerTools[] {
    return this.#uses.map(({ setting: { id, name }, server: { tools } }) => ({ id, name, tools }))
  }

  close(): void {
    this.use([])
  }

  #open({ id, config, consent }: ServerSetting): McpServer {
    const { session, principal, token, changed } = this.#user
    return this.#servers.open(config, {
      session,
      principal,
      consent,
      token,
      changed: (state) => changed(id, state),
    })
  }
}

function same(a: ServerSetting, b: ServerSetting): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** The servers in the host's settings, except those that the session's agent runs itself. */
export function configuredSettings(
  servers: { readonly [name: string]: McpServerConfig } = {},
  ofAgent: readonly Customization[],
): readonly ServerSetting[] {
  return Object.entries(servers).flatMap(([name, config]) => {
    // An ACP agent that runs the server itself shows it under the same id.
    const id = `atrium:/mcp/${encodeURIComponent(name)}`
    return ofAgent.some((each) => each.id === id) ? [] : [{ id, name, config, consent: '' }]
  })
}
