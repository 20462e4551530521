import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ToolCallResult, ToolInput, ToolResultContent } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import type {
  SessionActiveClient,
  SessionInputRequest,
  SessionState,
  ToolDefinition,
} from '@atrium/protocol/session/state'
import { ActiveClient } from './active-client.ts'
import type { Client } from './client.ts'
import { messageOf } from './shared/errors.ts'
import type { Subscription } from './sync/handle.ts'

/** A tool that this client provides to a session. */
export interface ProvidedTool extends ToolDefinition {
  /**
   * Runs one call. Returns the result as a text or as a whole `ToolCallResult`. If the function throws, the call fails with
   * the message of the error.
   */
  run(input: JsonObject, call: ProvidedCall): string | ToolCallResult | Promise<string | ToolCallResult>
}

/** A running call of a provided tool. */
export interface ProvidedCall {
  readonly chat: Uri
  readonly turnId: string
  readonly toolCallId: string
  /**
   * Aborted when the call has ended: the turn was cancelled, the host waited too long for this client, or the tools were
   * withdrawn. Also aborted after the host has accepted the result.
   */
  readonly signal: AbortSignal
  /** Shows content while the tool runs. It replaces what was shown before. */
  show(content: readonly ToolResultContent[]): void
}

export interface ProvideOptions {
  readonly displayName?: string
  readonly customizations?: NonNullable<SessionActiveClient['customizations']>
}

/** The tools that a client provides to a session, until they are withdrawn. */
export interface ProvidedTools {
  /** Resolves when the host has accepted the tools. Rejects with its reason if it refuses them. */
  readonly ready: Promise<void>
  /** Replaces all tools. Running calls go on. */
  replace(tools: readonly ProvidedTool[]): Promise<void>
  /** Withdraws the tools. The host fails the running calls. */
  withdraw(): void
}

type Execution = Extract<SessionInputRequest, { readonly kind: 'toolClientExecution' }>

/**
 * Makes the client an active client of a session with these tools, and runs their calls. Each call runs once, even if the
 * link is lost or the host restarts meanwhile: its result is sent when the client is connected again. A call of a tool that
 * is not provided is denied. A call that was already running when this program started fails, because nobody knows what it
 * has done.
 */
export function provideTools(
  client: Client,
  session: Uri,
  tools: readonly ProvidedTool[],
  options: ProvideOptions = {},
): ProvidedTools {
  return new Provider(client, session, tools, options)
}

class Provider implements ProvidedTools {
  readonly ready: Promise<void>
  readonly #client: Client
  readonly #session: Subscription<'session'>
  /** The calls that this program has taken, by their ids in `inputNeeded`. Each is taken once. */
  readonly #taken = new Map<string, AbortController>()
  readonly #active: ActiveClient
  #tools: readonly ProvidedTool[]
  #isWithdrawn = false

  constructor(client: Client, session: Uri, tools: readonly ProvidedTool[], options: ProvideOptions) {
    this.#client = client
    this.#tools = tools
    this.#session = client.subscribe('session', session)
    this.#active = new ActiveClient(this.#session, () => ({
      clientId: client.clientId,
      ...options,
      tools: this.#tools.map(definitionOf),
    }))
    this.ready = this.#begin()
    // A caller may ignore `ready`. A refusal must not become an unhandled rejection.
    this.ready.catch(() => {})
  }

  async replace(tools: readonly ProvidedTool[]): Promise<void> {
    await this.ready
    this.#tools = tools
    await this.#register()
  }

  withdraw(): void {
    if (this.#isWithdrawn) return
    this.#isWithdrawn = true
    void this.#active.leave()
    for (const call of this.#taken.values()) call.abort()
    this.#session.release()
  }

  async #begin(): Promise<void> {
    const state = await this.#session.ready()
    for (const request of this.#executions(state)) {
      this.#taken.set(request.id, new AbortController())
      this.#complete(
        request,
        failure('This client was restarted while the tool ran. What it has done is not known.'),
      )
    }
    this.#session.onChange(() => this.#changed())
    await this.#register()
  }

  async #register(): Promise<void> {
    const ended = await this.#active.join()
    if (ended.outcome === 'refused') throw new Error(ended.reason)
  }

  #changed(): void {
    const { confirmed, status } = this.#session
    if (!confirmed || status !== 'open' || this.#isWithdrawn) return
    const open = this.#executions(confirmed)
    for (const request of open) if (!this.#taken.has(request.id)) void this.#run(request)
    for (const [id, call] of this.#taken) {
      if (open.some((request) => request.id === id)) continue
      call.abort()
      this.#taken.delete(id)
    }
  }

  #executions({ inputNeeded = [] }: SessionState): readonly Execution[] {
    return inputNeeded.filter(
      (request) => request.kind === 'toolClientExecution' && request.clientId === this.#client.clientId,
      // The filter has left only requests of the kind `toolClientExecution`: hence the cast.
    ) as readonly Execution[]
  }

  async #run(request: Execution): Promise<void> {
    const abort = new AbortController()
    this.#taken.set(request.id, abort)
    const { chat, turnId, toolCall } = request
    const { toolCallId, toolName, toolInput } = toolCall
    const tool = this.#tools.find(({ name }) => name === toolName)
    if (!tool) return this.#deny(request)
    const show = (content: readonly ToolResultContent[]) => {
      if (!abort.signal.aborted)
        this.#send(chat, { type: 'chat/toolCallContentChanged', turnId, toolCallId, content })
    }
    try {
      const input = await this.#input(toolInput)
      const result = await tool.run(input, { chat, turnId, toolCallId, signal: abort.signal, show })
      if (!abort.signal.aborted)
        this.#complete(request, typeof result === 'string' ? success(tool, result) : result)
    } catch (error) {
      if (!abort.signal.aborted) this.#complete(request, failure(messageOf(error)))
    }
  }

  async #input(given: ToolInput | undefined): Promise<JsonObject> {
    const text = typeof given === 'object' ? await this.#read(given.uri) : (given ?? '{}')
    let input: unknown
    try {
      input = JSON.parse(text)
    } catch {
      throw new Error('the input is not JSON')
    }
    if (!isJsonObject(input)) throw new Error('the input is not a JSON object')
    return input
  }

  /** Reads a long input, which is stored outside the state. */
  async #read(uri: Uri): Promise<string> {
    const { data, encoding } = await this.#client.ask('resourceRead', { uri })
    if (encoding !== 'utf-8') throw new Error('the input is not a text')
    return data
  }

  #complete({ chat, turnId, toolCall: { toolCallId } }: Execution, result: ToolCallResult): void {
    this.#send(chat, { type: 'chat/toolCallComplete', turnId, toolCallId, result })
  }

  #deny({ chat, turnId, toolCall: { toolCallId, toolName } }: Execution): void {
    const reasonMessage = `this client has no tool ${JSON.stringify(toolName)}`
    const denial = { approved: false, reason: 'denied', reasonMessage } as const
    this.#send(chat, { type: 'chat/toolCallConfirmed', turnId, toolCallId, ...denial })
  }

  /**
   * Sends an action without waiting for its outcome. The client keeps the action until the host has it, also across
   * lost links and restarts of the host.
   */
  #send(chat: Uri, action: ChatAction): void {
    void this.#client.dispatch(chat, action)
  }
}

function definitionOf(tool: ProvidedTool): ToolDefinition {
  const { run: _, ...definition } = tool
  return definition
}

function success({ title, name }: ToolDefinition, text: string): ToolCallResult {
  return { success: true, pastTenseMessage: `Called ${title ?? name}`, content: [{ type: 'text', text }] }
}

function failure(message: string): ToolCallResult {
  return { success: false, pastTenseMessage: message, error: { message } }
}
