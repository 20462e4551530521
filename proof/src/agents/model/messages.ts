import { cost, chunks, textsOf } from './conversation.ts'
import type { Conversation, Dialect, Event, Piece, Message, Schema } from './conversation.ts'

interface Body {
  readonly messages?: readonly { readonly role: string; readonly content: string | readonly Part[] }[]
  readonly tools?: readonly { readonly name: string; readonly input_schema?: Schema }[]
}

interface Part {
  readonly type: string
  readonly content?: unknown
  readonly text?: string
  readonly tool_use_id?: string
}

/** Anthropic's `POST /messages`. */
export const messages: Dialect = { read, stream, whole }

function read({ messages: all = [], tools = [] }: Body): Conversation {
  return {
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
    history: all.flatMap(({ role, content }) => {
      const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
      const by = role === 'user' ? 'user' : 'model'
      return parts.flatMap((part): readonly Message[] => {
        if (part.type === 'text') return [{ by, text: part.text ?? '' }]
        if (part.type !== 'tool_result') return []
        return [{ by: 'tool', call: part.tool_use_id ?? '', text: textsOf(part.content).join('\n') }]
      })
    }),
  }
}

async function* stream(pieces: AsyncIterable<Piece>, model: string): AsyncIterable<Event> {
  let index = -1
  let open: Piece['is'] | undefined
  const event = (type: string, rest: object = {}): Event => ({ name: type, data: { type, ...rest } })
  const delta = (of: object): Event => event('content_block_delta', { index, delta: of })
  function* close(): Iterable<Event> {
    if (open === 'thought') yield delta({ type: 'signature_delta', signature })
    if (open) yield event('content_block_stop', { index })
    open = undefined
  }
  function* begin(is: Piece['is'], content_block: object): Iterable<Event> {
    yield* close()
    open = is
    yield event('content_block_start', { index: ++index, content_block })
  }
  let reason = 'end_turn'
  yield event('message_start', { message: { ...envelope(model), content: [], stop_reason: null } })
  for await (const piece of pieces) {
    if (piece.is === 'thought') {
      yield* begin('thought', { type: 'thinking', thinking: '', signature: '' })
      for (const thinking of chunks(piece.text)) yield delta({ type: 'thinking_delta', thinking })
    } else if (piece.is === 'text') {
      if (open !== 'text') yield* begin('text', { type: 'text', text: '' })
      for (const text of chunks(piece.text)) yield delta({ type: 'text_delta', text })
    } else {
      const { id, tool, input } = piece.call
      yield* begin('call', { type: 'tool_use', id, name: tool.name, input: {} })
      for (const partial_json of chunks(input)) yield delta({ type: 'input_json_delta', partial_json })
      reason = 'tool_use'
    }
  }
  yield* close()
  yield event('message_delta', { delta: { stop_reason: reason, stop_sequence: null }, usage })
  yield event('message_stop')
}

function whole(pieces: readonly Piece[], model: string): object {
  const content = pieces.map((piece) => {
    if (piece.is === 'thought') return { type: 'thinking', thinking: piece.text, signature }
    if (piece.is === 'text') return { type: 'text', text: piece.text }
    const { id, tool, input } = piece.call
    return { type: 'tool_use', id, name: tool.name, input: JSON.parse(input) as unknown }
  })
  const stop_reason = pieces.some(({ is }) => is === 'call') ? 'tool_use' : 'end_turn'
  return { ...envelope(model), content, stop_reason }
}

/** The signature that every thinking block must have. Any text will do, because only the real API could verify it. */
const signature = 'c2NyaXB0ZWQ='

const usage = {
  input_tokens: cost.asked,
  output_tokens: cost.answered,
  cache_read_input_tokens: cost.cached,
  cache_creation_input_tokens: 0,
}

const envelope = (model: string) => ({
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  model,
  stop_sequence: null,
  usage,
})
