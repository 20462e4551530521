import type {
  LanguageModelV3,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider'
import { schemaOf, tools } from './tools.ts'
import type { Tool } from './tools.ts'
import type { ProviderOptions } from './provider/provider.ts'

/** What a model is asked. */
export interface Request {
  readonly model: LanguageModelV3
  readonly system: string
  readonly messages: readonly LanguageModelV3Message[]
  /** The names of the tools that it may call. */
  readonly tools: readonly string[]
  readonly maxOutputTokens?: number | undefined
  readonly options: ProviderOptions
  readonly signal: AbortSignal
}

/** What a model says to it, as it comes. One question, one answer: what becomes of calls, and of trouble, is decided elsewhere. */
export async function* asked(request: Request): AsyncGenerator<LanguageModelV3StreamPart> {
  const over = new AbortController()
  const leave = () => over.abort()
  request.signal.addEventListener('abort', leave)
  if (request.signal.aborted) leave()
  // Nobody waits for it any longer than they want to, whether it heeds that or not.
  const left = new Promise<undefined>((resolve) => {
    over.signal.addEventListener('abort', () => resolve(undefined))
  })
  const unlessLeft = <T>(task: Promise<T>): Promise<T | undefined> => {
    task.catch(() => {})
    return over.signal.aborted ? Promise.resolve(undefined) : Promise.race([task, left])
  }
  try {
    const answer = await unlessLeft(Promise.resolve(request.model.doStream(callOf(request, over.signal))))
    const reader = answer?.stream.getReader()
    for (let next = reader && (await unlessLeft(reader.read())); reader && next && !next.done;) {
      yield next.value
      next = await unlessLeft(reader.read())
    }
    reader?.cancel().catch(() => {})
  } finally {
    request.signal.removeEventListener('abort', leave)
    // Whoever turns away ends the request, too.
    leave()
  }
}

function callOf(request: Request, abortSignal: AbortSignal): Parameters<LanguageModelV3['doStream']>[0] {
  const { system, messages, maxOutputTokens, options } = request
  const offered = Object.entries<Tool>(tools).filter(([name]) => request.tools.includes(name))
  const set = offered.map(([name, tool]): LanguageModelV3FunctionTool => ({
    type: 'function',
    name,
    description: tool.description,
    inputSchema: schemaOf(tool),
  }))
  return {
    prompt: [{ role: 'system', content: system, ...remembered }, ...marked(messages)],
    ...(set.length > 0 && { tools: set, toolChoice: { type: 'auto' } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    providerOptions: options,
    abortSignal,
  }
}

/** Anthropic remembers up to here what it has read, if it is told to; nobody else minds. */
const remembered = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }

function marked(messages: readonly LanguageModelV3Message[]): readonly LanguageModelV3Message[] {
  return messages.map((message, i) => (i === messages.length - 1 ? { ...message, ...remembered } : message))
}
