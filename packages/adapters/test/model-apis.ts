import { pieces } from './script.ts'
import type { Heard, Spoken } from './script.ts'

export type Bag = { readonly [key: string]: unknown }

/** One way to speak to a model: what it is sent, and how it answers. */
interface Api {
  heard(body: Bag): readonly Heard[]
  /** As they are on the wire; without an end where it breaks off. */
  events(spoken: readonly Spoken[], ends: boolean): readonly string[]
}

type Call = Extract<Spoken, { readonly kind: 'call' }>
const list = (value: unknown) => (Array.isArray(value) ? (value as readonly Bag[]) : [])
const words = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map(({ text }) => (typeof text === 'string' ? text : ''))
        .join('')
const sse = (data: Bag) => `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`
const called = (spoken: readonly Spoken[]) => spoken.some(({ kind }) => kind === 'call')

const anthropic: Api = {
  heard: ({ messages }) =>
    list(messages).flatMap(({ role, content }): readonly Heard[] => {
      const results = list(content).filter(({ type }) => type === 'tool_result')
      if (results.length > 0)
        return results.map((result) => ({ role: 'tool', text: words(result['content']) }))
      return [{ role: role === 'user' ? 'user' : 'assistant', text: words(content) }]
    }),
  events(spoken, ends) {
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
    const stop = { stop_reason: called(spoken) ? 'tool_use' : 'end_turn', stop_sequence: null }
    return [
      sse({ type: 'message_start', message }),
      ...spoken.flatMap((each, index) => block(each, index)),
      ...(ends
        ? [
            sse({ type: 'message_delta', delta: stop, usage: { output_tokens: 7 } }),
            sse({ type: 'message_stop' }),
          ]
        : []),
    ]
  },
}

function block(spoken: Spoken, index: number): readonly string[] {
  const [start, deltas] = blockOf(spoken, index)
  if (!start) return []
  return [
    sse({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => sse({ type: 'content_block_delta', index, delta })),
    sse({ type: 'content_block_stop', index }),
  ]
}

function blockOf(spoken: Spoken, index: number): readonly [start: Bag | undefined, deltas: readonly Bag[]] {
  if (spoken.kind === 'think')
    return [
      { type: 'thinking', thinking: '', signature: '' },
      [
        ...pieces(spoken.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 's' },
      ],
    ]
  if (spoken.kind === 'say')
    return [{ type: 'text', text: '' }, pieces(spoken.text).map((text) => ({ type: 'text_delta', text }))]
  if (spoken.kind !== 'call') return [undefined, []]
  const { name, input } = spoken
  return [
    { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
    pieces(input).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  ]
}

const responses: Api = {
  heard: ({ input }) =>
    list(input).flatMap((item): readonly Heard[] => {
      if (item['type'] === 'function_call_output') return [{ role: 'tool', text: words(item['output']) }]
      const role = item['role']
      if (role !== 'user' && role !== 'assistant') return []
      return [{ role, text: words(item['content']) }]
    }),
  events(spoken, ends) {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
    }
    return [
      sse({ type: 'response.created', response: { id: 'r', created_at: 1, model: 'x' } }),
      ...spoken.flatMap((each, at) => item(each, at)),
      ...(ends ? [sse({ type: 'response.completed', response: { incomplete_details: null, usage } })] : []),
    ]
  },
}

function item(spoken: Spoken, output_index: number): readonly string[] {
  const id = `i${output_index}`
  const about = { item_id: id, output_index }
  const around = (shown: Bag, deltas: readonly Bag[], done: Bag = shown) => [
    sse({ type: 'response.output_item.added', output_index, item: { id, ...shown } }),
    ...deltas.map((delta) => sse({ ...about, type: '', ...delta })),
    sse({ type: 'response.output_item.done', output_index, item: { id, ...done } }),
  ]
  if (spoken.kind === 'think') {
    const type = 'response.reasoning_summary_text.delta'
    return around({ type: 'reasoning', summary: [], encrypted_content: null }, [
      { type: 'response.reasoning_summary_part.added', summary_index: 0 },
      ...pieces(spoken.text).map((delta) => ({ type, summary_index: 0, delta })),
    ])
  }
  if (spoken.kind === 'say')
    return around(
      { type: 'message', role: 'assistant', content: [] },
      pieces(spoken.text).map((delta) => ({ type: 'response.output_text.delta', content_index: 0, delta })),
    )
  if (spoken.kind !== 'call') return []
  const call = { type: 'function_call', call_id: `call_${output_index}`, name: spoken.name }
  return around(
    { ...call, arguments: '' },
    pieces(spoken.input).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
    { ...call, arguments: spoken.input, status: 'completed' },
  )
}

const completions: Api = {
  heard: ({ messages }) =>
    list(messages).flatMap(({ role, content }): readonly Heard[] =>
      role === 'user' || role === 'assistant' || role === 'tool' ? [{ role, text: words(content) }] : [],
    ),
  events(spoken, ends) {
    const chunk = (delta: Bag, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', created: 1, model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const usage = { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } }
    const calls = spoken.filter((each): each is Call => each.kind === 'call')
    return [
      ...spoken.flatMap((each) => {
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
        const given = pieces(each.input).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        )
        return [chunk({ tool_calls: [named] }), ...given]
      }),
      ...(ends
        ? [
            chunk({}, called(spoken) ? 'tool_calls' : 'stop'),
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
