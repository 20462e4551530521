import type { Action, Uri } from '@atrium/protocol/channel'
import type { RootState } from '@atrium/protocol/root/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionActiveClient } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { RawClient } from './raw-client.ts'
import type { Message } from './raw-client.ts'

const offered = ['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1']
const directory = 'file:///home/ann/project'

/** The settings that the workbench dispatches first. All these dispatches have the `clientSeq` 0. */
const settings: readonly Record<string, unknown>[] = [
  { 'http.proxy': '', 'http.noProxy': [] },
  { telemetryLevel: 'off' },
  { terminalAutoApproveEnabled: true },
  {
    terminalAutoApproveRules: { ls: true, '/^git (status|log)$/': { approve: true, matchCommandLine: true } },
  },
  { autoApprovePolicyRestricted: false },
  { workspaceTrust: { enabled: false, trustedUris: [] } },
  { disableRepoInfoTelemetry: false },
]
const features = Array.from({ length: 13 }, (_, n) => ({ [`feature.${n}`]: n % 2 === 0 }))

/** VS Code's workbench as a host sees it: the messages that it sends, their order, and the responses that it waits for. */
export class Workbench {
  readonly clientId: string
  readonly provider: string
  link: RawClient
  session: Uri = ''
  #ids = 0
  #clientSeq = 0
  #named = 0
  #tools = 2

  constructor(transport: Transport, { clientId = 'window-1', provider = 'mock' } = {}) {
    this.clientId = clientId
    this.provider = provider
    this.link = new RawClient(transport, '0.9.0')
  }

  get root(): RootState {
    return this.link.state(rootUri) as RootState
  }

  get chat(): Uri {
    return this.link.session(this.session).defaultChat ?? ''
  }

  /** Runs the handshake and dispatches all settings at once. */
  async open(): Promise<void> {
    await this.initialize()
    await this.greet()
  }

  initialize(): Promise<unknown> {
    return this.ask('initialize', {
      channel: rootUri,
      protocolVersions: offered,
      clientId: this.clientId,
      clientInfo: { name: 'vscode-editor-window', title: 'VS Code' },
      _meta: { 'vscode.telemetryLevel': 'off' },
      initialSubscriptions: [rootUri],
    })
  }

  async greet(): Promise<void> {
    this.introduce()
    const login = this.#logins()
    const listed = this.list()
    // The workbench sends the same thirteen settings twice. The second time they change nothing.
    for (const config of [...features, ...features]) this.#configure(config, ++this.#clientSeq)
    await Promise.all([...login, listed])
    await this.list()
  }

  introduce(): void {
    for (const config of settings) this.#configure(config, 0)
    this.link.say({ method: 'setClientManagedSettingsPermissions', params: { permissions: {} } })
  }

  list(): Promise<unknown> {
    return this.ask('listSessions', { channel: rootUri })
  }

  ping(): Promise<unknown> {
    return this.ask('ping', { channel: rootUri })
  }

  /** Chooses an agent: requests the agent's config several times, and creates a session that may never be used. */
  async choose(): Promise<void> {
    await this.#settingsOf()
    const asked = Array.from({ length: 4 }, () => this.#settingsOf())
    const made = this.#create()
    await Promise.all([...asked, made])
    this.registerTools()
    await this.#subscribe(this.session)
  }

  /** Sends the first prompt in a new session, which replaces the unused session. Returns the id of the turn. */
  async prompt(text: string): Promise<string> {
    const abandoned = this.session
    await this.#create()
    this.registerTools()
    await this.ask('disposeSession', { channel: abandoned })
    await this.#subscribe(this.session)
    const subscribed = this.#subscribe(this.chat)
    this.registerTools()
    const turn = this.start(text)
    await subscribed
    return turn
  }

  start(text: string): string {
    const turnId = this.#name('request_')
    const startedAt = '2026-01-01T00:00:00.000Z'
    this.dispatch(this.chat, { type: 'chat/turnStarted', turnId, startedAt, message: this.#message(text) })
    return turnId
  }

  /** Sends a message during a turn. */
  steer(text: string): string {
    const id = this.#name('request_')
    this.dispatch(this.chat, {
      type: 'chat/pendingMessageSet',
      kind: 'steering',
      id,
      message: this.#message(text),
    })
    return id
  }

  cancel(turnId: string, duration: number): void {
    this.dispatch(this.chat, { type: 'chat/turnCancelled', turnId, duration })
  }

  /** Approves a tool call, as a click on the button does. */
  allow(turnId: string, toolCallId: string): void {
    const asked = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
    this.dispatch(this.chat, { type: 'chat/toolCallConfirmed', ...asked })
  }

  read(): void {
    this.dispatch(this.session, { type: 'session/isReadChanged', isRead: true })
  }

  /** Registers the tools of the workbench. The workbench does this often, whether the tools have changed or not. */
  registerTools(tools = this.#tools): void {
    this.#tools = tools
    const activeClient: SessionActiveClient = {
      clientId: this.clientId,
      tools: Array.from({ length: tools }, (_, n) => ({ name: `tool${n}`, inputSchema: { type: 'object' } })),
      customizations: [],
    }
    this.dispatch(this.session, { type: 'session/activeClientSet', activeClient })
  }

  /** Opens a session from the session list again. */
  async reopen(session: Uri): Promise<void> {
    this.session = session
    await this.#subscribe(session)
    await this.#subscribe(this.chat)
    this.dispatch(this.chat, { type: 'chat/draftChanged', draft: this.#message('') })
    this.registerTools()
  }

  /**
   * Reconnects on a new connection. The workbench lists every channel that it ever subscribed to, and sends `reconnect`
   * without the member `channel`. If the host does not know the client, the workbench initializes on the same connection.
   */
  async comeBack(transport: Transport, subscriptions: readonly Uri[]): Promise<unknown> {
    const before = this.link
    this.link = new RawClient(transport, '0.9.0')
    this.link.inherit(before)
    const { clientId } = this
    const params = { clientId, lastSeenServerSeq: this.link.lastSeen, subscriptions, _meta: {} }
    const result = await this.ask('reconnect', params).catch((error: Message['error']) => {
      if (error?.code === -32008) return this.initialize()
      throw error
    })
    this.introduce()
    return result
  }

  dispatch(channel: Uri, action: Action & Record<string, unknown>, clientSeq = ++this.#clientSeq): void {
    this.link.say({ method: 'dispatchAction', params: { channel, clientSeq, action } })
  }

  /** Sends a request. Rejects with the error of the response. */
  async ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#ids
    this.link.say({ id, method, params })
    await this.link.until(() => this.link.answerTo(id) !== undefined)
    const { result, error } = this.link.answerTo(id) ?? {}
    return error ? Promise.reject(error) : result
  }

  /** Resolves when no dispatch is pending. */
  settled(): Promise<void> {
    return this.link.until(() => this.link.pending.length === 0)
  }

  #create(): Promise<unknown> {
    this.session = this.#name(`${this.provider}:/`)
    return this.ask('createSession', {
      channel: this.session,
      provider: this.provider,
      workingDirectories: [directory],
      // The workbench sends this config to every agent.
      config: { isolation: 'folder', autoApprove: 'default', mode: 'interactive' },
      progressToken: this.#name('progress-'),
    })
  }

  #subscribe(channel: Uri): Promise<unknown> {
    return this.ask('subscribe', { channel })
  }

  #settingsOf(): Promise<unknown> {
    return this.ask('resolveSessionConfig', {
      channel: rootUri,
      provider: this.provider,
      workingDirectory: directory,
    })
  }

  /** Authenticates for every protected resource of every agent. */
  #logins(): readonly Promise<unknown>[] {
    const needed = this.root.agents.flatMap(({ protectedResources = [] }) => protectedResources)
    return needed.map(({ resource }) => this.ask('authenticate', { channel: rootUri, resource, token: 'T' }))
  }

  #configure(config: Record<string, unknown>, clientSeq: number): void {
    this.dispatch(rootUri, { type: 'root/configChanged', config }, clientSeq)
  }

  /** A message that names the first model of the agent. */
  #message(text: string): Record<string, unknown> {
    const model = this.root.agents.find(({ provider }) => provider === this.provider)?.models[0]
    return { text, origin: { kind: 'user' }, ...(model && { model: { id: model.id } }) }
  }

  #name(prefix: string): string {
    return `${prefix}${this.clientId}-${++this.#named}`
  }
}
