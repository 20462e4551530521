import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import { pieces } from './script.ts'
import type { SentMessage, ScriptStep } from './script.ts'

/** The HTTP API of a provider. It reads the messages of a request and writes the events of a response. */
interface Api {
  messages(body: JsonObject): readonly SentMessage[]
  /**
   * Returns the server-sent events of a response. If `ends` is false, the last events are missing, as after a broken
   * connection. `usage` has further members of the usage, which only the API of chat completions has.
   */
  events(steps: readonly ScriptStep[], ends: boolean, usage: JsonObject): readonly string[]
}

type Call = Extract<ScriptStep, { readonly kind: 'call' }>
const list = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : [])
const textIn = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map(({ text }) => (typeof text === 'string' ? text : ''))
        .join('')
const sse = (data: JsonObject) => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`
const hasCall = (steps: readonly ScriptStep[]) => steps.some(({ kind }) => kind === 'call')

const anthropic: Api = {
  messages: ({ messages }) =>
    list(messages).flatMap(({ role, content }): readonly SentMessage[] => {
      const results = list(content).filter(({ type }) => type === 'tool_result')
      if (results.length > 0)
        return results.map((result) => ({ role: 'tool', text: textIn(result['content']) }))
      return [{ role: role === 'user' ? 'user' : 'assistant', text: textIn(content) }]
    }),
  events(steps, ends) {
    const usage = {
      input_tokens: 60,
      cache_read_input_tokens: 40,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    }
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'x',
      content: [],
      stop_reason: null,
      usage,
    }
    const stop = { stop_reason: hasCall(steps) ? 'tool_use' : 'end_turn', stop_sequence: null }
    return [
      sse({ type: 'message_start', message }),
      ...steps.flatMap((each, index) => block(each, index)),
      ...(ends
        ? [
            sse({ type: 'message_delta', delta: stop, usage: { output_tokens: 7 } }),
            sse({ type: 'message_stop' }),
          ]
        : []),
    ]
  },
}

function block(step: ScriptStep, index: number): readonly string[] {
  const [start, deltas] = blockOf(step, index)
  if (!start) return []
  return [
    sse({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => sse({ type: 'content_block_delta', index, delta })),
    sse({ type: 'content_block_stop', index }),
  ]
}

function blockOf(
  step: ScriptStep,
  index: number,
): readonly [start: JsonObject | undefined, deltas: readonly JsonObject[]] {
  if (step.kind === 'think')
    return [
      { type: 'thinking', thinking: '', signature: '' },
      [
        ...pieces(step.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 's' },
      ],
    ]
  if (step.kind === 'say')
    return [{ type: 'text', text: '' }, pieces(step.text).map((text) => ({ type: 'text_delta', text }))]
  if (step.kind !== 'call') return [undefined, []]
  const { name, input } = step
  return [
    { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
    pieces(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ]
}

const responses: Api = {
  messages: ({ input }) =>
    list(input).flatMap((item): readonly SentMessage[] => {
      if (item['type'] === 'function_call_output') return [{ role: 'tool', text: textIn(item['output']) }]
      const role = item['role']
      if (role !== 'user' && role !== 'assistant') return []
      return [{ role, text: textIn(item['content']) }]
    }),
  events(steps, ends) {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
    }
    return [
      sse({ type: 'response.created', response: { id: 'r', created_at: 1, model: 'x' } }),
      ...steps.flatMap((each, at) => item(each, at)),
      ...(ends ? [sse({ type: 'response.completed', response: { incomplete_details: null, usage } })] : []),
    ]
  },
}

function item(step: ScriptStep, output_index: number): readonly string[] {
  const id = `i${output_index}`
  const about = { item_id: id, output_index }
  const around = (shown: JsonObject, deltas: readonly JsonObject[], done: JsonObject = shown) => [
    sse({ type: 'response.output_item.added', output_index, item: { id, ...shown } }),
    ...deltas.map((delta) => sse({ ...about, type: '', ...delta })),
    sse({ type: 'response.output_item.done', output_index, item: { id, ...done } }),
  ]
  if (step.kind === 'think') {
    const type = 'response.reasoning_summary_text.delta'
    return around({ type: 'reasoning', summary: [], encrypted_content: null }, [
      { type: 'response.reasoning_summary_part.added', summary_index: 0 },
      ...pieces(step.text).map((delta) => ({ type, summary_index: 0, delta })),
    ])
  }
  if (step.kind === 'say')
    return around(
      { type: 'message', role: 'assistant', content: [] },
      pieces(step.text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
    )
  if (step.kind !== 'call') return []
  const call = { type: 'function_call', call_id: `call_${output_index}`, name: step.name }
  return around(
    { ...call, arguments: '' },
    pieces(step.input).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
    { ...call, arguments: step.input, status: 'completed' },
  )
}

const completions: Api = {
  messages: ({ messages }) =>
    list(messages).flatMap(({ role, content }): readonly SentMessage[] =>
      role === 'user' || role === 'assistant' || role === 'tool' ? [{ role, text: textIn(content) }] : [],
    ),
  events(steps, ends, more) {
    const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 40 },
      ...more,
    }
    const calls = steps.filter((each): each is Call => each.kind === 'call')
    return [
      ...steps.flatMap((each) => {
        if (each.kind === 'think')
          return pieces(each.text).map((piece) => chunk({ reasoning_content: piece }))
        if (each.kind === 'say') return pieces(each.text).map((content) => chunk({ content }))
        if (each.kind !== 'call') return []
        const index = calls.indexOf(each)
        const named = {
          index,
          id: `call_${index}`,
          type: 'function',
          function: { name: each.name, arguments: '' },
        }
        const deltas = pieces(each.input).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        )
        return [chunk({ tool_calls: [named] }), ...deltas]
      }),
      ...(ends
        ? [
            chunk({}, hasCall(steps) ? 'tool_calls' : 'stop'),
            `data: ${JSON.stringify({ id: 'c', created: 1, model: 'x', choices: [], usage })}\n\n`,
            'data: [DONE]\n\n',
          ]
        : []),
    ]
  },
}

export const apis: { readonly [path: string]: Api } = {
  '/v1/messages': anthropic,
  '/v1/responses': responses,
  '/v1/chat/completions': completions,
}
