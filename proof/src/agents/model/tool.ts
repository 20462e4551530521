import { randomUUID } from 'node:crypto'
import type { Call, Schema, Tool } from './conversation.ts'

/**
 * The script words that call a tool. An answer of the model ends with the call. The script goes on in the next
 * answer, when the agent has sent the result of the call.
 */
export const toolWords = ['write', 'read', 'run', 'tool'] as const
export type ToolWord = (typeof toolWords)[number]

/**
 * Returns a call of the agent's tool that does what `word` says, with the input in `text`; undefined if the agent has
 * no such tool.
 */
export function callFor(word: ToolWord, text: string, tools: readonly Tool[]): Call | undefined {
  const [first, rest] = cut(text)
  if (word === 'write') return writing(first, rest.replaceAll('\\n', '\n'), tools)
  if (word === 'run') return running(text, tools)
  if (word === 'read') return filled(find(tools, names.read), { path: text })
  const named = tools.find(({ name }) => name === first) ?? tools.find(({ name }) => name.endsWith(first))
  return named && call(named, rest === '' ? '{}' : rest)
}

function writing(path: string, text: string, tools: readonly Tool[]): Call | undefined {
  const writer = find(tools, names.write)
  if (writer) return filled(writer, { path, content: text })
  const patcher = tools.find(({ name }) => name === 'apply_patch')
  const lines = text.split('\n').map((line) => `+${line}`)
  const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch', ''].join('\n')
  if (patcher) return call(patcher, patcher.freeform ? patch : JSON.stringify({ input: patch }))
  return running(`printf %s '${text}' > '${path}'`, tools)
}

function running(line: string, tools: readonly Tool[]): Call | undefined {
  return filled(find(tools, names.run), { command: line })
}

/**
 * Returns the call by which a model ends its work with a text. Returns undefined for an agent whose model simply
 * stops.
 */
export function completionOf(text: string, tools: readonly Tool[]): Call | undefined {
  const tool = tools.find(({ name }) => name === 'attempt_completion')
  return tool && call(tool, JSON.stringify({ ...example(tool.schema ?? {}), result: text }))
}

/**
 * A search for the tool that a step names. Some agents show the tools of MCP servers to their model only after such a search.
 * Undefined for an agent without a search.
 */
export function searchFor(word: ToolWord, text: string, tools: readonly Tool[]): Call | undefined {
  const tool = word === 'tool' ? tools.find(({ name }) => /^tool_?search$/i.test(name)) : undefined
  if (!tool) return undefined
  const [query] = cut(text)
  const { id, ...rest } = call(tool, JSON.stringify({ ...example(tool.schema ?? {}), query }))
  return { id: `${searchPrefix}${id}`, ...rest }
}

/**
 * The call of a tool that a search has found, in an agent that calls such tools by a tool of its own. Undefined for another
 * agent, or if the result of the search does not name the tool.
 */
export function foundCall(text: string, result: string, tools: readonly Tool[]): Call | undefined {
  const tool = tools.find(({ name }) => name === 'tool_call')
  const [wanted, input] = cut(text)
  const names = Array.from(result.matchAll(/"name":"(\w+)"/g), ([, name = '']) => name)
  const found = names.find((name) => name.endsWith(wanted))
  return tool && found !== undefined
    ? call(tool, JSON.stringify({ name: found, arguments: JSON.parse(input || '{}') as unknown }))
    : undefined
}

/** Whether a call is a search for a tool. The id tells it, because a result in the history has only the id of its call. */
export function isSearch(id: string): boolean {
  return id.startsWith(searchPrefix)
}

const searchPrefix = 'search_'

/** The names that agents use for the same tool, best match first. */
const names = {
  write: ['write', 'write_file', 'create_file', 'write_to_file', 'create', 'write_text_file'],
  read: ['read', 'read_file', 'view', 'read_text_file'],
  run: [
    'bash',
    'shell',
    'run_shell_command',
    'exec_command',
    'shell_command',
    'execute_command',
    'run_command',
    'run_commands',
    'execute',
    'run',
  ],
}

function find(tools: readonly Tool[], candidates: readonly string[]): Tool | undefined {
  const by = (fits: (name: string, candidate: string) => boolean): Tool | undefined => {
    for (const candidate of candidates) {
      const tool = tools.find(({ name }) => fits(name.toLowerCase(), candidate))
      if (tool) return tool
    }
    return undefined
  }
  // Some agents put a prefix before the names of their tools.
  return (
    by((name, candidate) => name === candidate) ?? by((name, candidate) => name.endsWith(`__${candidate}`))
  )
}

type Values = Readonly<Partial<Record<'path' | 'content' | 'command', string>>>

/** The meaning of an argument, by its name. */
const meanings: readonly (readonly [RegExp, keyof Values])[] = [
  [/^(file_?path|path|absolute_?path|file_?name|file)$/i, 'path'],
  [/^(contents?|file_?text|text)$/i, 'content'],
  [/^(commands?|cmd|script|line)$/i, 'command'],
]

function filled(tool: Tool | undefined, values: Values): Call | undefined {
  return tool && call(tool, JSON.stringify(example(tool.schema ?? {}, values)))
}

/** Returns the smallest object that matches a schema and has the given values. */
export function example(schema: Schema, values: Values = {}): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const meaning = meanings.find(([pattern]) => pattern.test(key))?.[1]
    const value = meaning && values[meaning]
    if (value !== undefined) result[key] = isList(property) ? listOf(key, value) : value
    else if (key === 'sandbox_permissions') result[key] = 'require_escalated' // else codex does not ask
    else if (key === 'justification') result[key] = 'the script says so'
    else if (schema.required?.includes(key)) result[key] = anything(property)
  }
  return result
}

/** A list has whole command lines if its name says so, or else the words of one. */
function listOf(key: string, line: string): readonly string[] {
  return key.endsWith('s') ? [line] : ['bash', '-lc', line]
}

const isList = ({ type }: Schema): boolean => typesOf(type).includes('array')

function anything({ type, enum: choices, const: only }: Schema): unknown {
  if (only !== undefined) return only
  if (choices) return choices[0]
  const [first] = typesOf(type)
  return first === undefined ? 'scripted' : (samples[first] ?? 'scripted')
}

const samples: Readonly<Record<string, unknown>> = {
  integer: 1,
  number: 1,
  boolean: false,
  array: [],
  object: {},
}

/** Returns the types of a schema in lower case, because Gemini writes them in capitals. */
function typesOf(type: Schema['type']): readonly string[] {
  return [type ?? []].flat().map((one) => one.toLowerCase())
}

function call(tool: Tool, input: string): Call {
  return { id: `call_${randomUUID().replaceAll('-', '').slice(0, 20)}`, tool, input }
}

/** Splits a text at the first bar. */
function cut(text: string): readonly [string, string] {
  const at = text.indexOf('|')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
