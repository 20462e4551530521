import { cost, chunks, textsOf } from './conversation.ts'
import type { Conversation, Dialect, Event, Piece, Message, Schema, Tool } from './conversation.ts'

interface Body {
  readonly messages?: readonly {
    readonly role: string
    readonly content?: unknown
    readonly tool_call_id?: string
  }[]
  readonly tools?: readonly { readonly function?: { readonly name: string; readonly parameters?: Schema } }[]
}

/** OpenAI's `POST /chat/completions`. */
export const chatCompletions: Dialect = { read, stream, whole }

function read({ messages = [], tools = [] }: Body): Conversation {
  return {
    tools: tools.flatMap(({ function: it }): Tool[] =>
      it ? [{ name: it.name, schema: it.parameters }] : [],
    ),
    history: messages.flatMap(({ role, content, tool_call_id: call = '' }): readonly Message[] => {
      const texts = textsOf(content)
      if (role === 'tool') return [{ by: 'tool', call, text: texts.join('\n') }]
      if (role === 'user') return texts.map((text) => ({ by: 'user', text }))
      return role === 'assistant' ? texts.map((text) => ({ by: 'model', text })) : []
    }),
  }
}

async function* stream(pieces: AsyncIterable<Piece>, model: string): AsyncIterable<Event> {
  const chunk = (delta: object, reason: string | null = null): Event => ({
    data: { ...envelope(model), choices: [{ index: 0, delta, finish_reason: reason }] },
  })
  let reason = 'stop'
  yield chunk({ role: 'assistant', content: '' })
  for await (const piece of pieces) {
    if (piece.is === 'thought')
      for (const text of chunks(piece.text)) yield chunk({ reasoning_content: text })
    else if (piece.is === 'text') for (const text of chunks(piece.text)) yield chunk({ content: text })
    else {
      const { id, tool, input } = piece.call
      const head = { index: 0, id, type: 'function', function: { name: tool.name, arguments: '' } }
      yield chunk({ tool_calls: [head] })
      for (const text of chunks(input))
        yield chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })
      reason = 'tool_calls'
    }
  }
  yield chunk({}, reason)
  yield { data: { ...envelope(model), choices: [], usage } }
  yield { data: '[DONE]' }
}

function whole(pieces: readonly Piece[], model: string): object {
  const calls = pieces.flatMap((piece) => (piece.is === 'call' ? [piece.call] : []))
  const content = pieces.map((piece) => (piece.is === 'text' ? piece.text : '')).join('')
  const tool_calls = calls.map(({ id, tool, input }) => ({
    id,
    type: 'function',
    function: { name: tool.name, arguments: input },
  }))
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls }) }
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
  const choices = [{ index: 0, message, finish_reason }]
  return { ...envelope(model), object: 'chat.completion', choices, usage }
}

const envelope = (model: string) => ({
  id: 'chatcmpl-scripted',
  object: 'chat.completion.chunk',
  created: 1,
  model,
})

const usage = {
  prompt_tokens: cost.asked,
  completion_tokens: cost.answered,
  total_tokens: cost.all,
  prompt_tokens_details: { cached_tokens: cost.cached },
  completion_tokens_details: { reasoning_tokens: cost.thought },
}
