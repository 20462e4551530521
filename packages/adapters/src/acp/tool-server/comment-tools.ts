import { TurnFailed } from '@atrium/host/ports/agent'
import type { AgentAction, Chat } from '@atrium/host/ports/agent'
import type { JsonObject } from '@atrium/protocol/json'
import type { ToolCallResult } from '@atrium/protocol/chat/tool'
import type { ServedTool } from './endpoint.ts'

/** A tool of the host for the comments of the session. */
interface CommentTool {
  readonly title: string
  readonly description: string
  readonly properties: JsonObject
  readonly required?: readonly string[]
  readonly readOnly?: true
  /** Returns a sentence for users that tells what the call does. */
  intention(input: JsonObject): string
  /** Returns the result for the agent. */
  run(comments: Chat['comments'], input: JsonObject): Promise<string>
}

/**
 * Returns the tools by which an ACP agent reads and answers the comments of its session, as the built-in agents do.
 * Returns none while the session has no comments, because each tool takes a part of the model's context. A tool of a
 * client or an MCP server that has the same name takes precedence.
 */
export function commentTools({
  comments,
  tools: offered,
}: Pick<Chat, 'comments' | 'tools'>): readonly ServedTool[] {
  if (!comments.exist) return []
  const taken = new Set(offered.list().map(({ name }) => name))
  return [...tools].flatMap(([name, { title, description, properties, required = [], readOnly = false }]) => {
    const inputSchema = { type: 'object' as const, properties, required: [...required] }
    const annotations = { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false }
    return taken.has(name)
      ? []
      : [{ name, definition: { name, title, description, inputSchema, annotations } }]
  })
}

export function isCommentTool(name: string): boolean {
  return tools.has(name)
}

/** Calls a tool for comments. Yields what the chat shows of the call. The last action has the result. */
export async function* callCommentTool(
  chat: Pick<Chat, 'comments'>,
  name: string,
  toolCallId: string,
  input: JsonObject,
): AsyncGenerator<AgentAction, void> {
  const tool = tools.get(name)
  if (!tool) return
  const [intention, toolInput] = [tool.intention(input), JSON.stringify(input)]
  yield { type: 'chat/toolCallStart', toolCallId, toolName: name, displayName: tool.title, intention }
  yield { type: 'chat/toolCallDelta', toolCallId, content: toolInput }
  const invocationMessage = { markdown: intention }
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, toolInput, confirmed: 'not-needed' }
  yield { type: 'chat/toolCallComplete', toolCallId, result: await resultOf(tool, chat, input) }
}

async function resultOf(
  tool: CommentTool,
  { comments }: Pick<Chat, 'comments'>,
  input: JsonObject,
): Promise<ToolCallResult> {
  const pastTenseMessage = { markdown: tool.intention(input) }
  try {
    const text = await tool.run(comments, input)
    return { success: true, pastTenseMessage, content: [{ type: 'text', text }] }
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    return { success: false, pastTenseMessage, error: { message: error.message } }
  }
}

const string = (description: string) => ({ type: 'string', description })
const integer = (description: string) => ({ type: 'integer', minimum: 1, description })
const boolean = (description: string) => ({ type: 'boolean', description })

const tools: ReadonlyMap<string, CommentTool> = new Map<string, CommentTool>([
  [
    'comments',
    {
      title: 'Comments',
      description:
        'Lists the comments that people and agents have made on files, with their ids and the code.',
      properties: {
        path: string('A file. Absent: all files.'),
        all: boolean('Whether resolved comments are listed, too.'),
      },
      readOnly: true,
      intention: () => 'Read the comments',
      run: async (comments, input) => {
        const path = textIn(input, 'path')
        const all = await comments.list(path === '' ? undefined : path)
        const listed = all.filter(({ resolved }) => input['all'] === true || !resolved)
        return listed.map(({ text }) => text).join('\n\n') || 'There are no comments.'
      },
    },
  ],
  [
    'comment',
    {
      title: 'Comment',
      description: 'Comments on lines of a file. Users see the comment beside the code.',
      properties: {
        path: string('The file.'),
        line: integer('The first line; 1 is the first of the file. Absent: the whole file.'),
        lastLine: integer('The last line. Absent: one line.'),
        text: string('Markdown.'),
      },
      required: ['path', 'text'],
      intention: (input) => `Comment on ${JSON.stringify(textIn(input, 'path'))}`,
      run: async (comments, input) => {
        const [line, lastLine] = [numberIn(input, 'line'), numberIn(input, 'lastLine')]
        const lines = { ...(line !== undefined && { line }), ...(lastLine !== undefined && { lastLine }) }
        const id = await comments.add({ path: needed(input, 'path'), text: needed(input, 'text'), ...lines })
        return `The comment has the id ${id}.`
      },
    },
  ],
  [
    'reply',
    {
      title: 'Reply',
      description: 'Answers a comment.',
      properties: {
        id: string('The id of the comment.'),
        text: string('Markdown.'),
        resolve: boolean('Whether the comment is done with.'),
      },
      required: ['id', 'text'],
      intention: (input) => `Reply to the comment ${JSON.stringify(textIn(input, 'id'))}`,
      run: async (comments, input) => {
        const [id, text] = [needed(input, 'id'), needed(input, 'text')]
        await comments.reply(id, text)
        if (input['resolve'] === true) await comments.resolve(id, true)
        return 'Answered.'
      },
    },
  ],
])

function textIn(input: JsonObject, name: string): string {
  const value = input[name]
  return typeof value === 'string' ? value : ''
}

function numberIn(input: JsonObject, name: string): number | undefined {
  const value = input[name]
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value))
    throw new TurnFailed('tool', `"${name}" must be a whole number`)
  return value
}

function needed(input: JsonObject, name: string): string {
  const value = textIn(input, name)
  if (value === '') throw new TurnFailed('tool', `"${name}" must be a text that is not empty`)
  return value
}
