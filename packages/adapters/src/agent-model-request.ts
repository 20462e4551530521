import type { LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai'
import { library } from './agent-model-sdk.ts'
import { schemaOf, tools } from './agent-model-tools.ts'
import type { Tool } from './agent-model-tools.ts'
import type { ProviderOptions } from './agent-model-vendor.ts'

/** What a model is asked. */
export interface Request {
  readonly model: LanguageModel
  readonly system: string
  readonly messages: readonly ModelMessage[]
  /** The names of the tools that it may call. */
  readonly tools: readonly string[]
  readonly maxOutputTokens?: number | undefined
  readonly options: ProviderOptions
  readonly signal: AbortSignal
}

/** What a model says to it, as it comes. One question, one answer: what becomes of calls is decided elsewhere. */
export async function* asked(request: Request): AsyncGenerator<TextStreamPart<ToolSet>> {
  const { streamText, jsonSchema, tool } = await library()
  const over = new AbortController()
  const signal = AbortSignal.any([request.signal, over.signal])
  const offered = Object.entries<Tool>(tools).filter(([name]) => request.tools.includes(name))
  const set: ToolSet = Object.fromEntries(
    offered.map(([name, each]) => [
      name,
      tool({ description: each.description, inputSchema: jsonSchema(schemaOf(each)) }),
    ]),
  )
  try {
    const { fullStream } = streamText({
      model: request.model,
      system: { role: 'system', content: request.system, ...remembered },
      messages: marked(request.messages),
      ...(offered.length > 0 && { tools: set }),
      ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
      providerOptions: request.options as Parameters<typeof streamText>[0]['providerOptions'] & {},
      // How often is tried again, and when, is seen by people.
      maxRetries: 0,
      abortSignal: signal,
      // It comes in the stream, too; by itself it is written to the terminal.
      onError: () => {},
    })
    yield* heeding(fullStream, request.signal)
  } finally {
    // Whoever turns away ends the request, too.
    over.abort()
  }
}

/** Anthropic remembers up to here what it has read, if it is told to; nobody else minds. */
const remembered = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } } as const

function marked(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.map((message, i) => (i === messages.length - 1 ? { ...message, ...remembered } : message))
}

/** The same, but nobody waits for it any longer than they want to, whether it heeds that or not. */
async function* heeding<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]()
  let stop = () => {}
  const stopped = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)))
  signal.addEventListener('abort', stop)
  try {
    while (!signal.aborted) {
      const coming = iterator.next()
      coming.catch(() => {})
      const next = await Promise.race([coming, stopped])
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', stop)
    iterator.return?.().catch(() => {})
  }
}
