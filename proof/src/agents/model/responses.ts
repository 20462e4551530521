import { randomUUID } from 'node:crypto'
import { cost, chunks, textsOf } from './conversation.ts'
import type { Call, Conversation, Dialect, Event, Piece, Message, Schema, Tool } from './conversation.ts'

interface Body {
  readonly input?: string | readonly Item[]
  readonly tools?: readonly Offered[]
}

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: unknown
  readonly output?: unknown
  readonly call_id?: string
  /** The tools that a search has found. They are not among the tools of later requests. */
  readonly tools?: readonly Offered[]
}

interface Offered {
  readonly type: string
  readonly name?: string
  readonly parameters?: Schema
  readonly tools?: readonly Offered[]
}

/** OpenAI's `POST /responses`. */
export const responses: Dialect = { read, stream, whole }

function read({ input = [], tools = [] }: Body): Conversation {
  const items: readonly Item[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  return {
    tools: [...tools, ...items.flatMap((item) => item.tools ?? [])].flatMap((tool) => toolsOf(tool)),
    history: items.flatMap(({ type = '', role, content, output, call_id: call = '' }): readonly Message[] => {
      if (type.endsWith('_output')) return [{ by: 'tool', call, text: textsOf(output).join('\n') }]
      if (role === 'user') return textsOf(content).map((text) => ({ by: 'user', text }))
      return role === 'assistant' ? textsOf(content).map((text) => ({ by: 'model', text })) : []
    }),
  }
}

function toolsOf(
  { type, name = type, parameters, tools = [] }: Offered,
  namespace?: string,
): readonly Tool[] {
  if (type === 'namespace') return tools.flatMap((tool) => toolsOf(tool, name))
  if (type === 'custom') return [{ name, freeform: true }]
  if (type === 'tool_search') return [{ name, schema: parameters, searches: true }]
  if (type !== 'function') return []
  return [{ name, schema: parameters, ...(namespace !== undefined && { namespace }) }]
}

async function* stream(pieces: AsyncIterable<Piece>, model: string): AsyncIterable<Event> {
  let number = 0
  const event = (type: string, rest: object): Event => ({
    name: type,
    data: { type, sequence_number: number++, ...rest },
  })
  const output: object[] = []
  /** Yields the events of one output item: its begin, the events `between`, and its end. */
  function* item(begun: object, done: object, between: Iterable<Event>): Iterable<Event> {
    yield event('response.output_item.added', { output_index: output.length, item: begun })
    yield* between
    yield event('response.output_item.done', { output_index: output.length, item: done })
    output.push(done)
  }
  const deltas = (type: string, item_id: string, text: string, rest: object = {}): Iterable<Event> =>
    map(chunks(text), (delta) =>
      event(type, { item_id, output_index: output.length, delta, logprobs: [], ...rest }),
    )

  yield event('response.created', { response: envelope(model, 'in_progress', []) })
  let message: { readonly id: string; text: string } | undefined
  function* close(): Iterable<Event> {
    if (!message) return
    const done = messageItem(message.id, message.text)
    yield event('response.output_item.done', { output_index: output.length, item: done })
    output.push(done)
    message = undefined
  }
  for await (const piece of pieces) {
    if (piece.is === 'text') {
      if (!message) {
        message = { id: newId('msg'), text: '' }
        const begun = { ...messageItem(message.id, ''), status: 'in_progress', content: [] }
        yield event('response.output_item.added', { output_index: output.length, item: begun })
      }
      message.text += piece.text
      yield* deltas('response.output_text.delta', message.id, piece.text, { content_index: 0 })
      continue
    }
    yield* close()
    if (piece.is === 'thought') {
      const id = newId('rs')
      const summary = deltas('response.reasoning_summary_text.delta', id, piece.text, { summary_index: 0 })
      yield* item(thoughtItem(id, ''), thoughtItem(id, piece.text), summary)
    } else {
      const done = callItem(piece.call)
      const { deltaType } = shapeOf(piece.call)
      const between = deltaType === undefined ? [] : deltas(deltaType, done.id, piece.call.input)
      yield* item({ ...done, status: 'in_progress' }, done, between)
    }
  }
  yield* close()
  yield event('response.completed', { response: envelope(model, 'completed', output) })
}

function whole(pieces: readonly Piece[], model: string): object {
  const output = pieces.map((piece) => {
    if (piece.is === 'text') return messageItem(newId('msg'), piece.text)
    if (piece.is === 'thought') return thoughtItem(newId('rs'), piece.text)
    return callItem(piece.call)
  })
  return envelope(model, 'completed', output)
}

const messageItem = (id: string, text: string) => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [] }],
})

const thoughtItem = (id: string, text: string) => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  content: null,
  encrypted_content: null,
})

function callItem(call: Call) {
  const { id, tool, input } = call
  const { type, field } = shapeOf(call)
  const item = { id: newId('item'), type, status: 'completed' }
  // The arguments of a search are no text.
  if (tool.searches)
    return { ...item, execution: 'client', call_id: id, arguments: JSON.parse(input) as unknown }
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  const named = { call_id: id, name: tool.name, ...namespace, [field]: input }
  return { ...item, ...named }
}

function shapeOf({ tool }: Call) {
  // A search is written as a whole.
  if (tool.searches) return { type: 'tool_search_call', field: 'arguments', deltaType: undefined }
  return tool.freeform
    ? { type: 'custom_tool_call', field: 'input', deltaType: 'response.custom_tool_call_input.delta' }
    : { type: 'function_call', field: 'arguments', deltaType: 'response.function_call_arguments.delta' }
}

function envelope(model: string, status: 'in_progress' | 'completed', output: readonly object[]) {
  const usage = {
    input_tokens: cost.asked,
    input_tokens_details: { cached_tokens: cost.cached },
    output_tokens: cost.answered,
    output_tokens_details: { reasoning_tokens: cost.thought },
    total_tokens: cost.all,
  }
  return {
    id: 'resp_scripted',
    object: 'response',
    created_at: 1,
    status,
    model,
    output,
    usage: status === 'completed' ? usage : null,
    error: null,
    incomplete_details: null,
  }
}

const newId = (prefix: string): string => `${prefix}_${randomUUID().replaceAll('-', '')}`

function* map<A, B>(all: Iterable<A>, change: (one: A) => B): Iterable<B> {
  for (const one of all) yield change(one)
}
