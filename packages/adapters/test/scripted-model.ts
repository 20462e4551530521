import type {
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider'
import { APICallError } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import type { ModelConfig } from '../src/model/provider/config.ts'
import type { Vendor } from '../src/model/provider/provider.ts'
import { pieces, script } from './script.ts'
import type { Heard, Spoken } from './script.ts'

/** A vendor whose models do what the messages say. */
export interface ScriptedVendor extends Vendor {
  readonly model: MockLanguageModelV3
}

export function scriptedVendor(facts: Partial<ModelConfig> = {}): ScriptedVendor {
  const model = new MockLanguageModelV3({
    doStream: async (options) => {
      const heard = heardIn(options)
      const spoken = script(heard)
      const [first] = spoken
      if (first?.kind === 'fail') throw callError(first.status)
      const hangs = spoken.some(({ kind }) => kind === 'hang')
      return { stream: streamOf(hangs ? partsOf(spoken).slice(0, -1) : partsOf(spoken), hangs) }
    },
  })
  return {
    name: 'mock',
    displayName: 'Mock',
    resource: 'https://mock.example',
    models: [{ id: 'one', maxContextWindow: 4_000_000, ...facts }],
    ask: async () => [],
    open: async () => model,
    options: () => ({}),
    model,
  }
}

export function callError(statusCode: number, responseHeaders: Record<string, string> = {}): APICallError {
  const about = { url: 'https://mock.example', requestBodyValues: {}, responseBody: '{}' }
  return new APICallError({ message: 'refused', statusCode, responseHeaders, ...about })
}

/** What it is sent, without its form. */
export function heardIn({ prompt }: Pick<LanguageModelV3CallOptions, 'prompt'>): readonly Heard[] {
  return prompt.flatMap((message): readonly Heard[] => {
    if (message.role === 'system') return []
    if (message.role === 'tool')
      return message.content.map((part) => ({ role: 'tool', text: resultText(part) }))
    const text = message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return [{ role: message.role, text }]
  })
}

function resultText(part: object): string {
  const { output } = part as { readonly output?: { readonly value?: unknown } }
  return typeof output?.value === 'string' ? output.value : ''
}

export function partsOf(spoken: readonly Spoken[]): readonly LanguageModelV3StreamPart[] {
  const called = spoken.some(({ kind }) => kind === 'call')
  const broken = spoken.some(({ kind }) => kind === 'break')
  const finishReason = called
    ? ({ unified: 'tool-calls', raw: 'tool_calls' } as const)
    : ({ unified: 'stop', raw: 'stop' } as const)
  return [
    { type: 'stream-start', warnings: [] },
    ...spoken.flatMap((each, i) => partsFor(each, `${i}`)),
    ...(broken ? [] : [{ type: 'finish' as const, finishReason, usage: usage(called) }]),
  ]
}

function partsFor(spoken: Spoken, id: string): readonly LanguageModelV3StreamPart[] {
  if (spoken.kind === 'think')
    return [
      { type: 'reasoning-start', id },
      ...pieces(spoken.text).map((delta) => ({ type: 'reasoning-delta' as const, id, delta })),
      { type: 'reasoning-end', id },
    ]
  if (spoken.kind === 'say')
    return [
      { type: 'text-start', id },
      ...pieces(spoken.text).map((delta) => ({ type: 'text-delta' as const, id, delta })),
      { type: 'text-end', id },
    ]
  if (spoken.kind !== 'call') return []
  const { name: toolName, input } = spoken
  return [
    { type: 'tool-input-start', id, toolName },
    ...pieces(input).map((delta) => ({ type: 'tool-input-delta' as const, id, delta })),
    { type: 'tool-input-end', id },
    { type: 'tool-call', toolCallId: id, toolName, input },
  ]
}

/** A call costs nothing: one that was cut off is made again, and turns can be held against one another all the same. */
function usage(called: boolean): LanguageModelV3Usage {
  const [total, read, text] = called ? [0, 0, 0] : [10, 4, 5]
  return {
    inputTokens: { total, noCache: total - read, cacheRead: read, cacheWrite: 0 },
    outputTokens: { total: text, text, reasoning: 0 },
  }
}

/** Piece by piece; one that hangs never ends. */
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
