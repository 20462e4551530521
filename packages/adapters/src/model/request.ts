import type {
  LanguageModelV3,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import type { OfferedTool } from '@atrium/host/ports/agent'
import { functionOf } from './offered/offered-tool.ts'
import { schemaOf, tools } from './tools.ts'
import type { Tool } from './tools.ts'
import type { ProviderOptions } from './provider/provider.ts'

/** One request to a model. */
export interface Request {
  readonly model: LanguageModelV3
  readonly system: string
  readonly messages: readonly LanguageModelV3Message[]
  /** Names of the agent's own tools that the model may call. */
  readonly tools: readonly string[]
  /** The tools of clients and MCP servers that the model may call. */
  readonly offered: readonly OfferedTool[]
  readonly maxOutputTokens?: number | undefined
  readonly options: ProviderOptions
  readonly signal: AbortSignal
}

/** Streams the response to one request. The caller runs the tool calls and retries after errors. */
export async function* streamModel(request: Request): AsyncGenerator<LanguageModelV3StreamPart> {
  const abort = new AbortController()
  const end = () => abort.abort()
  request.signal.addEventListener('abort', end)
  if (request.signal.aborted) end()
  // The model library may ignore the abort signal. This promise ends the wait in any case.
  const aborted = new Promise<undefined>((resolve) => {
    abort.signal.addEventListener('abort', () => resolve(undefined))
  })
  const unlessAborted = <T>(task: Promise<T>): Promise<T | undefined> => {
    task.catch(() => {})
    return abort.signal.aborted ? Promise.resolve(undefined) : Promise.race([task, aborted])
  }
  try {
    const answer = await unlessAborted(
      Promise.resolve(request.model.doStream(callOptions(request, abort.signal))),
    )
    const reader = answer?.stream.getReader()
    for (let next = reader && (await unlessAborted(reader.read())); reader && next && !next.done;) {
      yield next.value
      next = await unlessAborted(reader.read())
    }
    reader?.cancel().catch(() => {})
  } finally {
    request.signal.removeEventListener('abort', end)
    // If the caller stops reading, the request ends too.
    end()
  }
}

function callOptions(request: Request, abortSignal: AbortSignal): Parameters<LanguageModelV3['doStream']>[0] {
  const { system, messages, maxOutputTokens, options } = request
  const allowed = Object.entries<Tool>(tools).filter(([name]) => request.tools.includes(name))
  const own = allowed.map(([name, tool]): LanguageModelV3FunctionTool => ({
    type: 'function',
    name,
    description: tool.description,
    inputSchema: schemaOf(tool),
  }))
  const functions = [...own, ...request.offered.map(functionOf)]
  return {
    prompt: [{ role: 'system', content: system, ...cachePoint }, ...withCachePoint(messages)],
    ...(functions.length > 0 && { tools: functions, toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    providerOptions: options,
    abortSignal,
  }
}

/** A message option that asks Anthropic to cache the prompt up to this message. Other providers ignore the option. */
const cachePoint = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }

function withCachePoint(messages: readonly LanguageModelV3Message[]): readonly LanguageModelV3Message[] {
  return messages.map((message, i) => (i === messages.length - 1 ? { ...message, ...cachePoint } : message))
}
