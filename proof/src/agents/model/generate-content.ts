import { cost, chunks } from './conversation.ts'
import type { Conversation, Dialect, Event, Piece, Message, Schema } from './conversation.ts'
import { example } from './tool.ts'

interface Body {
  readonly contents?: readonly { readonly role?: string; readonly parts?: readonly Part[] }[]
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[]
  readonly generationConfig?: {
    readonly responseMimeType?: string
    readonly responseSchema?: Schema
    readonly responseJsonSchema?: Schema
  }
}

interface Part {
  readonly text?: string
  readonly functionResponse?: { readonly id?: string; readonly response?: unknown }
}

interface Declaration {
  readonly name: string
  readonly parameters?: Schema
  readonly parametersJsonSchema?: Schema
}

/** Gemini's `:generateContent` and `:streamGenerateContent`. */
export const generateContent: Dialect = { read, stream, whole }

function read({ contents = [], tools = [] }: Body): Conversation {
  const declared = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
  return {
    tools: declared.map(({ name, parameters, parametersJsonSchema }) => ({
      name,
      schema: parametersJsonSchema ?? parameters,
    })),
    history: contents.flatMap(({ role, parts = [] }) =>
      parts.flatMap(({ text, functionResponse }): Message[] => {
        if (functionResponse) {
          const { id: call = '', response: answered = {} } = functionResponse
          return [{ by: 'tool', call, text: JSON.stringify(answered) }]
        }
        return text === undefined ? [] : [{ by: role === 'model' ? 'model' : 'user', text }]
      }),
    ),
  }
}

async function* stream(pieces: AsyncIterable<Piece>, model: string): AsyncIterable<Event> {
  for await (const piece of pieces) {
    if (piece.is === 'text')
      for (const text of chunks(piece.text)) yield { data: response(model, [{ text }]) }
    else yield { data: response(model, [partOf(piece)]) }
  }
  yield { data: response(model, [{ text: '' }], 'STOP') }
}

function whole(pieces: readonly Piece[], model: string, { generationConfig = {} }: Body): object {
  const { responseMimeType, responseJsonSchema, responseSchema } = generationConfig
  if (!responseMimeType?.includes('json')) return response(model, pieces.map(partOf), 'STOP')
  // The agent asks for JSON, for example for the next speaker or for the model to use. Any answer that matches the
  // schema will do.
  const text = JSON.stringify(example(responseJsonSchema ?? responseSchema ?? {}))
  return response(model, [{ text }], 'STOP')
}

function partOf(piece: Piece): object {
  if (piece.is === 'thought') return { text: piece.text, thought: true }
  if (piece.is === 'text') return { text: piece.text }
  const { id, tool, input } = piece.call
  return { functionCall: { id, name: tool.name, args: JSON.parse(input) as unknown } }
}

function response(model: string, parts: readonly object[], finishReason?: 'STOP'): object {
  const content = { role: 'model', parts }
  return {
    candidates: [{ index: 0, content, ...(finishReason && { finishReason }) }],
    usageMetadata,
    modelVersion: model,
    responseId: 'scripted',
  }
}

const usageMetadata = {
  promptTokenCount: cost.asked,
  candidatesTokenCount: cost.answered,
  totalTokenCount: cost.all,
  cachedContentTokenCount: cost.cached,
  thoughtsTokenCount: cost.thought,
}
