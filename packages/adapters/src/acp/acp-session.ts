import type { AgentCommand } from '@atrium/host/ports/agent'
import { AhpError } from '@atrium/protocol/errors'
import type { AcpTurn } from './acp-turn.ts'
import { configOptionsOf } from './config-options.ts'
import type { ConfigOption } from './config-options.ts'
import { objectsIn, oneLine } from './calls/tool-call.ts'
import type { AcpConnection, SessionClient } from './process/connection.ts'
import type { AcpServer } from './process/mcp-servers.ts'
import type {
  ContentBlock,
  Fields,
  OpenSessionResponse,
  PromptResponse,
  SessionStateUpdate,
  SessionUpdate,
  SteeringResponse,
} from './process/schema.ts'

/** The params of `session/new`: the directories of an ACP session, and its MCP servers. */
export interface SessionContext {
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers: readonly AcpServer[]
}

/** Receives the slash commands of an ACP session whenever they change. */
export type CommandListener = (folder: string, commands: readonly AgentCommand[]) => void

/** An ACP session. In it the agent remembers one chat. */
export class AcpSession implements SessionClient {
  readonly connection: AcpConnection
  readonly id: string
  readonly context: SessionContext
  title: string | undefined
  /** Whether the host has sent a prompt in this ACP session. From then on the agent itself remembers the chat. */
  prompted: boolean
  /** The ids of the refused calls whose reasons were sent to the agent. */
  readonly told = new Set<string>()
  /** The rules and skills (as text) that the agent got last. */
  #instructions = ''
  #options: readonly ConfigOption[]
  #turn: AcpTurn | undefined
  /** The number of updates received. */
  #updates = 0
  #lastPrompt: Promise<unknown> = Promise.resolve()
  readonly #onCommands: CommandListener

  private constructor(
    connection: AcpConnection,
    id: string,
    context: SessionContext,
    {
      response,
      onCommands,
    }: { readonly response?: OpenSessionResponse; readonly onCommands: CommandListener },
  ) {
    this.connection = connection
    this.#onCommands = onCommands
    this.id = id
    this.context = context
    // Only a new session has a response by now. A restored one remembers its chat.
    this.prompted = response === undefined
    this.#options = configOptionsOf(response ?? {})
  }

  /**
   * Returns the rules and skills of the session if the agent does not have this text yet, else an empty text. The
   * agent remembers the text of earlier turns.
   */
  newInstructions(text: string): string {
    if (text === this.#instructions) return ''
    this.#instructions = text
    return text
  }

  static async create(
    connection: AcpConnection,
    context: SessionContext,
    onCommands: CommandListener,
  ): Promise<AcpSession> {
    const response: OpenSessionResponse = await connection.request('session/new', context, openMs)
    if (typeof response.sessionId !== 'string')
      throw AhpError.invalidParams('session/new was answered without a sessionId')
    return new AcpSession(connection, response.sessionId, context, { response, onCommands }).#attached()
  }

  /**
   * Restores a session that an earlier process opened: by `session/resume` if possible, else by `session/load`. The updates
   * that `session/load` replays are dropped, because the chat already contains them. Rejects if the agent supports neither
   * method, or does not know the session.
   */
  static async restore(
    connection: AcpConnection,
    params: SessionContext & { readonly sessionId: string },
    onCommands: CommandListener,
  ): Promise<AcpSession> {
    const { sessionId, ...context } = params
    const { loadSession, sessionCapabilities } = connection.initialized.agentCapabilities ?? {}
    const session = new AcpSession(connection, sessionId, context, { onCommands }).#attached()
    const resumed = sessionCapabilities?.resume
      ? await connection.request('session/resume', params, openMs).catch(ignoreRefusal)
      : undefined
    if (!resumed && !loadSession) throw AhpError.invalidParams('it cannot resume or load a session')
    session.#options = configOptionsOf(resumed ?? (await connection.request('session/load', params, openMs)))
    // Some agents replay updates even after their response to `session/load`. Such updates must not become part of the next
    // turn.
    if (!resumed) await session.#untilQuiet()
    return session
  }

  get options(): readonly ConfigOption[] {
    return this.#options
  }

  /**
   * Resolves when the agent has ended the prompt that was sent last. The next prompt must wait for this, because an
   * agent works on one prompt at a time.
   */
  get idle(): Promise<unknown> {
    return this.#lastPrompt
  }

  async setOption(option: ConfigOption, value: string | boolean): Promise<void> {
    const { id: sessionId } = this
    if (option.kind === 'mode')
      await this.connection.request('session/set_mode', { sessionId, modeId: value }, openMs)
    else if (option.kind === 'model')
      await this.connection.request('session/set_model', { sessionId, modelId: value }, openMs)
    else {
      const type = typeof value === 'boolean' ? { type: 'boolean' } : {}
      const params = { sessionId, configId: option.id, value, ...type }
      const response: OpenSessionResponse = await this.connection.request(
        'session/set_config_option',
        params,
        openMs,
      )
      if (response.configOptions) return this.#replaceOptions(response.configOptions)
    }
    this.#options = this.#options.map((each) => (each.id === option.id ? { ...each, current: value } : each))
  }

  /** `traceparent`: the trace context of the turn, for the spans of the agent. */
  async prompt(
    turn: AcpTurn,
    prompt: readonly ContentBlock[],
    traceparent: string | undefined,
  ): Promise<PromptResponse> {
    this.#turn = turn
    this.prompted = true
    const response = this.connection.request('session/prompt', {
      sessionId: this.id,
      prompt,
      ...(traceparent !== undefined && { _meta: { traceparent } }),
    })
    this.#lastPrompt = response.catch(() => {})
    try {
      return await response
    } finally {
      if (this.#turn === turn) this.#turn = undefined
    }
  }

  /** Gives the agent a message for the prompt that it works on. Returns whether the agent has taken it. */
  async steer(prompt: readonly ContentBlock[]): Promise<boolean> {
    // Without this wish, an agent that has just ended its prompt begins another one, which no turn shows.
    const _meta = { steering: { idleBehavior: 'promptRequired' } }
    const params = { sessionId: this.id, prompt, _meta }
    const request: Promise<SteeringResponse> = this.connection.request('_session/steering', params)
    return request.then(
      ({ outcome }) => outcome === 'injected',
      () => false,
    )
  }

  /**
   * Tells the agent that this session is not used again, if the agent knows a method for that. `delete`: the agent forgets the
   * session. `close`: the agent frees what the session takes. Waits for the answer, but not long.
   */
  async end(how: 'delete' | 'close'): Promise<void> {
    const { sessionCapabilities = {} } = this.connection.initialized.agentCapabilities ?? {}
    const method = [how, 'close' as const].find((each) => sessionCapabilities[each])
    if (method === undefined || !this.connection.open) return
    const ended = this.connection.request(`session/${method}`, { sessionId: this.id }).catch(() => {})
    await Promise.race([ended, this.connection.sleep(endMs)])
  }

  /** Cancels the prompt of a turn. Later updates for the turn are dropped. Returns false if the prompt has already ended. */
  cancel(turn: AcpTurn): boolean {
    if (this.#turn !== turn) return false
    this.#turn = undefined
    this.connection.notify('session/cancel', { sessionId: this.id })
    return true
  }

  update(update: SessionUpdate): void {
    this.#updates++
    if (stateUpdates.has(update.sessionUpdate ?? '')) this.#applyState(update)
    this.#turn?.update(update)
  }

  elicited(elicitationId: string): void {
    this.#turn?.elicited(elicitationId)
  }

  answer(method: string, params: Fields): Promise<object> {
    if (this.#turn) return this.#turn.answer(method, params)
    if (method === 'session/request_permission') return Promise.resolve({ outcome: { outcome: 'cancelled' } })
    return Promise.reject(AhpError.invalidParams('no turn is running in this session'))
  }

  #applyState(update: object): void {
    const { configOptions, currentModeId, availableCommands, title }: SessionStateUpdate = update
    if (configOptions) this.#replaceOptions(configOptions)
    if (typeof currentModeId === 'string')
      this.#options = this.#options.map((option) =>
        option.kind === 'mode' ? { ...option, current: currentModeId } : option,
      )
    if (availableCommands) this.#onCommands(this.context.cwd, commandsOf(availableCommands))
    if (typeof title === 'string' && title !== '') this.title = title
  }

  #attached(): this {
    this.connection.attach(this.id, this)
    return this
  }

  /** Resolves when no update has come for `quietMs`. */
  async #untilQuiet(): Promise<void> {
    for (let seen = -1; seen !== this.#updates && this.connection.open;) {
      seen = this.#updates
      await this.connection.sleep(quietMs)
    }
  }

  /**
   * Replaces all config options by a new list. Modes and models that the agent sent apart from its config options are
   * kept, unless the list has an option with the same id.
   */
  #replaceOptions(configOptions: NonNullable<OpenSessionResponse['configOptions']>): void {
    const modesAndModels = this.#options.filter(({ kind }) => kind !== 'option')
    const replaced = configOptionsOf({ configOptions })
    this.#options = [
      ...replaced,
      ...modesAndModels.filter(({ id }) => !replaced.some((option) => option.id === id)),
    ]
  }
}

/** The kinds of updates that change the session. All other kinds belong to a turn. */
const stateUpdates = new Set([
  'available_commands_update',
  'current_mode_update',
  'config_option_update',
  'session_info_update',
])

const openMs = 120_000
const quietMs = 200
const endMs = 2000

/** Turns a refused `session/resume` into undefined, because some agents announce the method and then refuse it. */
function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof AhpError)) throw error
}

function commandsOf(commands: NonNullable<SessionStateUpdate['availableCommands']>): readonly AgentCommand[] {
  const found = new Map<string, AgentCommand>()
  for (const { name, description } of objectsIn(commands).slice(0, maxCommands)) {
    if (typeof name !== 'string' || !/^\S{1,64}$/.test(name) || found.has(name)) continue
    const text = oneLine(description)
    found.set(name, { name, ...(text !== undefined && { description: text }) })
  }
  return [...found.values()]
}

const maxCommands = 1000
