/** What all APIs say, each in its own way: what the agent offers, and what was said so far. */
export interface Conversation {
  readonly tools: readonly Tool[]
  readonly said: readonly Said[]
}

export interface Tool {
  readonly name: string
  readonly schema?: Schema | undefined
  /** The group it is called in, where an API has such groups. */
  readonly namespace?: string
  /** Takes a text and no arguments. */
  readonly freeform?: boolean
}

export type Said =
  | { readonly by: 'person' | 'model'; readonly text: string }
  | { readonly by: 'tool'; readonly text: string; readonly call: string }

/** As much of a JSON schema as an example needs. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
}

/** What the model says next, before an API dresses it. */
export type Piece =
  | { readonly is: 'thought'; readonly text: string }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'call'; readonly call: Call }

export interface Call {
  readonly id: string
  readonly tool: Tool
  /** Arguments as JSON, or what a freeform tool takes. */
  readonly input: string
}

/** One event of a streamed answer. */
export interface Event {
  readonly name?: string
  readonly data: object | string
}

/** An API: how it is asked, and how it answers. */
export interface Dialect {
  readonly hear: (body: never) => Conversation
  readonly stream: (pieces: AsyncIterable<Piece>, model: string) => AsyncIterable<Event>
  readonly whole: (pieces: readonly Piece[], model: string, body: never) => object
}

/** The texts of a content, which is one or a list of parts. */
export function textsOf(content: unknown): readonly string[] {
  if (typeof content === 'string') return [content]
  if (Array.isArray(content)) return content.flatMap(textsOf)
  if (typeof content !== 'object' || content === null) return []
  const { text, content: inner } = content as { text?: unknown; content?: unknown }
  return typeof text === 'string' ? [text] : textsOf(inner)
}

/** A text as a model would say it: a few letters at a time. */
export function* crumbs(text: string): Iterable<string> {
  const letters = Array.from(text)
  for (let at = 0; at < letters.length; at += 12) yield letters.slice(at, at + 12).join('')
}

/** All that comes, in order; pieces of one kind are made one. */
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

/** What an answer cost, the same each time: nothing here is counted. */
export const cost = { asked: 1200, cached: 100, answered: 34, thought: 5, all: 1234 }
