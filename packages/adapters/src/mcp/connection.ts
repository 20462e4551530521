import type { CallToolResult, Client, InputRequiredResult } from '@modelcontextprotocol/client'
import { McpFailed, McpRefused } from '@atrium/host/ports/mcp'
import type { McpCall, McpResult } from '@atrium/host/ports/mcp'
import { errorCodes } from '@atrium/protocol/errors'
import type { JsonObject } from '@atrium/protocol/json'
import { isJsonObject } from '@atrium/protocol/json'
import type { McpAppCapabilities } from '@atrium/protocol/session/customization'
import { RunningCall } from './call.ts'
import type { Era, McpContext, McpLimits } from './context.ts'
import { never } from './library.ts'
import type { Library } from './library.ts'
import { answerForm } from './questions.ts'
import type { FormAnswer } from './questions.ts'
import { resultOf } from './result.ts'
import { listTools } from './tools.ts'
import type { ListedTool } from './tools.ts'

type CalledDefinition = JsonObject & {
  readonly name: string
  inputSchema: { type: 'object' }
  outputSchema: undefined
}

export interface ConnectionOptions {
  readonly library: Library
  readonly context: McpContext
  readonly limits: McpLimits
  /** Closes the transport. Resolves when no process is left. */
  readonly end: () => Promise<void>
  readonly onTools: () => void
}

/** A connection to a server that has answered: its tools and its calls. */
export class McpConnection {
  readonly era: Era
  tools: ReadonlyMap<string, ListedTool> = new Map()
  readonly #client: Client
  readonly #options: ConnectionOptions
  /** The running calls. A question of a legacy server does not name its call, so it is assigned to the oldest running call. */
  readonly #calls = new Set<RunningCall>()
  readonly #definitions = new WeakMap<ListedTool['own'], CalledDefinition>()
  #isReading = false
  #isStale = false

  constructor(client: Client, options: ConnectionOptions) {
    this.#client = client
    this.#options = options
    this.era = client.getProtocolEra() ?? 'legacy'
  }

  /** Reads the list of tools. */
  async readTools(): Promise<void> {
    if (!this.#client.getServerCapabilities()?.tools) return
    const listPage = (cursor: string | undefined) =>
      this.#client.request(
        { method: 'tools/list', params: cursor === undefined ? {} : { cursor } },
        // Any page is accepted, because the library would refuse a whole page for one invalid tool.
        anything,
        { timeout: never },
      )
    this.tools = await listTools(listPage, this.#options.limits)
  }

  /**
   * Called when the server says that its tools have changed. If a server says so all the time, its list is read only at
   * intervals.
   */
  toolsChanged(): void {
    this.#isStale = true
    if (!this.#isReading) void this.#readAgain()
  }

  async #readAgain(): Promise<void> {
    const { context, limits, onTools } = this.#options
    this.#isReading = true
    while (this.#isStale) {
      this.#isStale = false
      // If the list cannot be read, the tools stay as they were. A call of a tool that is gone fails.
      await this.readTools().then(onTools, () => {})
      await new Promise<void>((resolve) => context.later(limits.mcpListMs, resolve))
    }
    this.#isReading = false
  }

  /** Calls a tool. Rejects with an `McpFailed`, a `Challenge`, or an error of the library. */
  async call(name: string, input: JsonObject, call: McpCall): Promise<McpResult> {
    return resultOf(await this.#call(name, input, call), this.#options.limits)
  }

  /** The capabilities that the server offers to clients: its tools and resources, if it has any. */
  get serves(): McpAppCapabilities {
    const { tools, resources } = this.#client.getServerCapabilities() ?? {}
    return { ...(tools && { serverTools: {} }), ...(resources && { serverResources: {} }) }
  }

  /** Sends the request of a client to the server. Rejects as `call` does. */
  async request(method: string, params: JsonObject): Promise<JsonObject> {
    if (method === 'tools/call') {
      const { name, arguments: input } = params
      return asObject(await this.#call(typeof name === 'string' ? name : '', asObject(input), alone))
    }
    const { context, limits } = this.#options
    const running = new RunningCall(alone, context.later, limits)
    const options = { timeout: never, signal: running.signal }
    try {
      const result = this.#client.request({ method, params: { ...params } }, anything, options)
      return asObject(await Promise.race([result, running.failed]))
    } finally {
      running.end()
    }
  }

  async #call(name: string, input: JsonObject, call: McpCall): Promise<CallToolResult> {
    const { context, limits } = this.#options
    const tool = this.tools.get(name)
    if (!tool)
      throw new McpRefused(
        `The MCP server has no tool ${JSON.stringify(name.slice(0, limits.mcpNameLength))}.`,
        errorCodes.InvalidParams,
      )
    const running = new RunningCall(call, context.later, limits)
    this.#calls.add(running)
    try {
      return await Promise.race([this.#request(tool, input, running), running.failed])
    } catch (error) {
      // The library throws an error of its own for an aborted request. The reason for the abort says more.
      throw running.signal.aborted ? running.signal.reason : error
    } finally {
      this.#calls.delete(running)
      running.end()
    }
  }

  /** Answers a question that came as a request. Legacy servers ask in this way. */
  async answer(params: unknown): Promise<FormAnswer> {
    const [running] = this.#calls
    if (!running) return { action: 'cancel' }
    return this.#answer(params, running)
  }

  /** Fails the running calls, and closes the connection. Resolves when no process is left. */
  async close(message = 'The MCP server was stopped.'): Promise<void> {
    for (const running of this.#calls) running.fail(message)
    await this.#options.end()
  }

  /** Sends the call. While the server asks questions, sends the call again with the answers. Modern servers ask in this way. */
  async #request({ own }: ListedTool, input: JsonObject, running: RunningCall): Promise<CallToolResult> {
    const { isInputRequiredResult } = this.#options.library
    const options = {
      signal: running.signal,
      timeout: never,
      onprogress: running.reportProgress.bind(running),
      allowInputRequired: true,
      toolDefinition: this.#definitionOf(own),
    }
    const params = { name: own.name, arguments: { ...input } }
    let result: CallToolResult | InputRequiredResult = await this.#client.callTool(params, options)
    while (isInputRequiredResult(result)) {
      const { requestState } = result
      const inputResponses = await this.#answers(result, running)
      const again = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
      result = await this.#client.callTool(again, options)
    }
    return result
  }

  /**
   * Returns the definition from which the library reads the headers of a call. The output schema is left out, because the
   * library would compile it and it is untrusted. The same object is returned each time, because the library remembers by the
   * object what it has read.
   */
  #definitionOf(own: ListedTool['own']): CalledDefinition {
    const known = this.#definitions.get(own)
    if (known) return known
    const inputSchema = { type: 'object' as const, ...asObject(own['inputSchema']) }
    const definition = { ...own, inputSchema, outputSchema: undefined }
    this.#definitions.set(own, definition)
    return definition
  }

  async #answers(
    { inputRequests = {} }: InputRequiredResult,
    running: RunningCall,
  ): Promise<{ [key: string]: FormAnswer }> {
    const entries = Object.entries(inputRequests)
    // A server may want to be called again without asking a question. This counts as a question, so that it cannot go
    // on for ever.
    if (entries.length === 0) await running.rest()
    const answers: { [key: string]: FormAnswer } = {}
    for (const [key, { method, params }] of entries) {
      if (method !== 'elicitation/create')
        throw new McpFailed(
          `The MCP server wants ${JSON.stringify(method)}, which this host does not support.`,
        )
      answers[key] = await this.#answer(params, running)
    }
    return answers
  }

  #answer(params: unknown, running: RunningCall): Promise<FormAnswer> {
    running.countForm()
    return answerForm(params, (questions) => running.ask(questions), this.#options.limits)
  }
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** A call that is in no chat, so that nobody can be asked. */
const alone: McpCall = {
  signal: new AbortController().signal,
  progress: () => {},
  elicit: async () => ({ response: 'cancel' }),
}

/** A schema that accepts every value. */
const anything = {
  '~standard': { version: 1 as const, vendor: 'atrium', validate: (value: unknown) => ({ value }) },
}
