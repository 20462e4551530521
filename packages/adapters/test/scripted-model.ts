import type {
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV3ToolApprovalResponsePart,
  LanguageModelV3ToolResultPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider'
import { APICallError } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import type { ModelConfig } from '../src/model/provider/config.ts'
import type { ModelProvider } from '../src/model/provider/provider.ts'
import { pieces, nextSteps } from './script.ts'
import type { SentMessage, ScriptStep } from './script.ts'

/** A provider whose model plays the script in the last user message. */
export interface ScriptedProvider extends ModelProvider {
  readonly model: MockLanguageModelV3
}

export function scriptedProvider(settings: Partial<ModelConfig> = {}): ScriptedProvider {
  const model = new MockLanguageModelV3({
    doStream: async (options) => {
      const steps = nextSteps(messagesIn(options))
      const [first] = steps
      if (first?.kind === 'fail') throw callError(first.status)
      const hangs = steps.some(({ kind }) => kind === 'hang')
      return { stream: streamOf(hangs ? partsOf(steps).slice(0, -1) : partsOf(steps), hangs) }
    },
  })
  return {
    name: 'mock',
    displayName: 'Mock',
    resource: 'https://mock.example',
    models: [{ id: 'one', maxContextWindow: 4_000_000, ...settings }],
    listModels: async () => [],
    openModel: async () => model,
    requestOptions: () => ({}),
    model,
  }
}

export function callError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  const about = { url: 'https://mock.example', requestBodyValues: {}, responseBody: '{}' }
  return new APICallError({ message: 'refused', statusCode, responseHeaders, ...about })
}

/** Returns the messages of a request as role and text only. */
export function messagesIn({ prompt }: Pick<LanguageModelV3CallOptions, 'prompt'>): readonly SentMessage[] {
  return prompt.flatMap((message): readonly SentMessage[] => {
    if (message.role === 'system') return []
    if (message.role === 'tool')
      return message.content.map((part) => ({ role: 'tool', text: resultText(part) }))
    const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return [{ role: message.role, text }]
  })
}

function resultText(part: LanguageModelV3ToolResultPart | LanguageModelV3ToolApprovalResponsePart): string {
  return part.type === 'tool-result' && part.output.type === 'text' ? part.output.value : ''
}

export function partsOf(steps: readonly ScriptStep[]): readonly LanguageModelV3StreamPart[] {
  const called = steps.some(({ kind }) => kind === 'call')
  const broken = steps.some(({ kind }) => kind === 'break')
  const finishReason = called
    ? ({ unified: 'tool-calls', raw: 'tool_calls' } as const)
    : ({ unified: 'stop', raw: 'stop' } as const)
  return [
    { type: 'stream-start', warnings: [] },
    ...steps.flatMap((each, i) => partsFor(each, `${i}`)),
    ...(broken ? [] : [{ type: 'finish' as const, finishReason, usage: usage(called) }]),
  ]
}

function partsFor(step: ScriptStep, id: string): readonly LanguageModelV3StreamPart[] {
  if (step.kind === 'think')
    return [
      { type: 'reasoning-start', id },
      ...pieces(step.text).map((delta) => ({ type: 'reasoning-delta' as const, id, delta })),
      { type: 'reasoning-end', id },
    ]
  if (step.kind === 'say')
    return [
      { type: 'text-start', id },
      ...pieces(step.text).map((delta) => ({ type: 'text-delta' as const, id, delta })),
      { type: 'text-end', id },
    ]
  if (step.kind !== 'call') return []
  const { name: toolName, input } = step
  return [
    { type: 'tool-input-start', id, toolName },
    ...pieces(input).map((delta) => ({ type: 'tool-input-delta' as const, id, delta })),
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input },
  ]
}

/**
 * Returns the usage of a response. A response with calls costs nothing: an interrupted call is repeated, and the usage of the
 * turn must still equal that of an uninterrupted turn.
 */
function usage(called: boolean): LanguageModelV3Usage {
  const [total, read, text] = called ? [0, 0, 0] : [10, 4, 5]
  return {
    inputTokens: { total, noCache: total - read, cacheRead: read, cacheWrite: 0 },
    outputTokens: { total: text, text, reasoning: 0 },
  }
}

/** Streams the parts one by one. If `hangs` is true, the stream never ends. */
export function streamOf<T>(parts: readonly T[], hangs = false): ReadableStream<T> {
  let at = 0
  return new ReadableStream<T>({
    pull(controller) {
      const part = parts[at++]
      if (part !== undefined) controller.enqueue(part)
      else if (!hangs) controller.close()
    },
  })
}
