import type { Action, Uri } from '@atrium/protocol/channel'
import type { RootState } from '@atrium/protocol/root/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { SessionActiveClient } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { Witness } from './raw-client.ts'
import type { Message } from './raw-client.ts'

const offered = ['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1']
const directory = 'file:///home/ann/project'

/** What it says of itself before it counts: each is another setting, and all have the number 0. */
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

/** VS Code's workbench as a host meets it: what it sends, in which order, and what it waits for before it goes on. */
export class Workbench {
  readonly clientId: string
  readonly provider: string
  link: Witness
  session: Uri = ''
  #ids = 0
  #clientSeq = 0
  #named = 0
  #tools = 2

  constructor(transport: Transport, { clientId = 'window-1', provider = 'mock' } = {}) {
    this.clientId = clientId
    this.provider = provider
    this.link = new Witness(transport, '0.9.0')
  }

  get root(): RootState {
    return this.link.state(rootUri) as RootState
  }

  get chat(): Uri {
    return this.link.session(this.session).defaultChat ?? ''
  }

  /** The handshake, and at once everything it has to say of itself. */
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
    // The same thirteen twice: the second time nothing changes.
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

  /** An agent is chosen: what it can be set to is asked again and again, and a session is made that may never be used. */
  async choose(): Promise<void> {
    await this.#settingsOf()
    const asked = Array.from({ length: 4 }, () => this.#settingsOf())
    const made = this.#create()
    await Promise.all([...asked, made])
    this.lend()
    await this.#subscribe(this.session)
  }

  /** The first prompt: another session takes the place of the one that was made before. Gives its turn. */
  async prompt(text: string): Promise<string> {
    const abandoned = this.session
    await this.#create()
    this.lend()
    await this.ask('disposeSession', { channel: abandoned })
    await this.#subscribe(this.session)
    const subscribed = this.#subscribe(this.chat)
    this.lend()
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

  /** What is typed while a turn runs. */
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

  /** The button that lets a tool be called. */
  allow(turnId: string, toolCallId: string): void {
    const asked = { turnId, toolCallId, approved: true, confirmed: 'user-action' }
    this.dispatch(this.chat, { type: 'chat/toolCallConfirmed', ...asked })
  }

  read(): void {
    this.dispatch(this.session, { type: 'session/isReadChanged', isRead: true })
  }

  /** Its tools, as often as it likes, changed or not. */
  lend(tools = this.#tools): void {
    this.#tools = tools
    const activeClient: SessionActiveClient = {
      clientId: this.clientId,
      tools: Array.from({ length: tools }, (_, n) => ({ name: `tool${n}`, inputSchema: { type: 'object' } })),
      customizations: [],
    }
    this.dispatch(this.session, { type: 'session/activeClientSet', activeClient })
  }

  /** A session is opened again from the list. */
  async reopen(session: Uri): Promise<void> {
    this.session = session
    await this.#subscribe(session)
    await this.#subscribe(this.chat)
    this.dispatch(this.chat, { type: 'chat/draftChanged', draft: this.#message('') })
    this.lend()
  }

  /**
   * Its link has ended and here is another. It lists every channel it ever subscribed to and names none for the command
   * itself; where the host does not know it, it begins anew on the same link.
   */
  async comeBack(transport: Transport, subscriptions: readonly Uri[]): Promise<unknown> {
    const before = this.link
    this.link = new Witness(transport, '0.9.0')
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

  /** Rejects with the error as it was answered. */
  async ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#ids
    this.link.say({ id, method, params })
    await this.link.until(() => this.link.answerTo(id) !== undefined)
    const { result, error } = this.link.answerTo(id) ?? {}
    return error ? Promise.reject(error) : result
  }

  /** Nothing it has wished for is still open. */
  settled(): Promise<void> {
    return this.link.until(() => this.link.pending.length === 0)
  }

  #create(): Promise<unknown> {
    this.session = this.#name(`${this.provider}:/`)
    return this.ask('createSession', {
      channel: this.session,
      provider: this.provider,
      workingDirectories: [directory],
      // Said to every agent, whatever it can be set to.
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

  /** A token for each resource that an agent says it protects. */
  #logins(): readonly Promise<unknown>[] {
    const needed = this.root.agents.flatMap(({ protectedResources = [] }) => protectedResources)
    return needed.map(({ resource }) => this.ask('authenticate', { channel: rootUri, resource, token: 'T' }))
  }

  #configure(config: Record<string, unknown>, clientSeq: number): void {
    this.dispatch(rootUri, { type: 'root/configChanged', config }, clientSeq)
  }

  /** A model is named as the root names it. */
  #message(text: string): Record<string, unknown> {
    const model = this.root.agents.find(({ provider }) => provider === this.provider)?.models[0]
    return { text, origin: { kind: 'user' }, ...(model && { model: { id: model.id } }) }
  }

  #name(prefix: string): string {
    return `${prefix}${this.clientId}-${++this.#named}`
  }
}
