/** A request in a form common to all APIs: the tools that the agent offers, and the messages so far. */
export interface Conversation {
  readonly tools: readonly Tool[]
  readonly history: readonly Message[]
}

export interface Tool {
  readonly name: string
  readonly schema?: Schema | undefined
  /** The tool's group, in an API that has groups. */
  readonly namespace?: string
  /** Whether the tool takes plain text instead of JSON arguments. */
  readonly freeform?: boolean
  /** Whether the tool is the agent's search for tools, in an API that has a type of its own for it. */
  readonly searches?: boolean
}

export type Message =
  | { readonly by: 'user' | 'model'; readonly text: string }
  | { readonly by: 'tool'; readonly text: string; readonly call: string }

/** The parts of a JSON schema that are needed to make up a value that matches it. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/** A part of the model's answer, independent of the API. */
export type Piece =
  | { readonly is: 'thought'; readonly text: string }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'call'; readonly call: Call }

export interface Call {
  readonly id: string
  readonly tool: Tool
  /** Arguments as JSON, or the text for a freeform tool. */
  readonly input: string
}

/** One event of a streamed answer. */
export interface Event {
  readonly name?: string
  readonly data: object | string
}

/** An API: how its requests are read, and how its answers are written. */
export interface Dialect {
  readonly read: (body: never) => Conversation
  readonly stream: (pieces: AsyncIterable<Piece>, model: string) => AsyncIterable<Event>
  readonly whole: (pieces: readonly Piece[], model: string, body: never) => object
}

/** Returns the texts of a content field, which is a string or a list of parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  if (Array.isArray(content)) return content.flatMap(textsOf)
  if (typeof content !== 'object' || content === null) return []
  const { text, content: inner } = content as { text?: unknown; content?: unknown }
  return typeof text === 'string' ? [text] : textsOf(inner)
}

/** Splits a text into short pieces, as a streaming model does. */
export function* chunks(text: string): Iterable<string> {
  const letters = Array.from(text)
  for (let at = 0; at < letters.length; at += 12) yield letters.slice(at, at + 12).join('')
}

/** Collects all pieces in order, and joins consecutive ones of the same kind. */
export async function gathered(pieces: AsyncIterable<Piece>): Promise<readonly Piece[]> {
  const all: Piece[] = []
  for await (const piece of pieces) {
    const last = all.at(-1)
    if (piece.is !== 'call' && last?.is === piece.is)
      all[all.length - 1] = { is: piece.is, text: last.text + piece.text }
    else all.push(piece)
  }
  return all
}

/** Fixed token counts for every answer: nothing is really counted. */
export const cost = { asked: 1200, cached: 100, answered: 34, thought: 5, all: 1234 }
