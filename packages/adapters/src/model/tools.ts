import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import type { ToolDefinition } from '@atrium/protocol/session/state'

/** The input of a tool call: its fields by name. */
export type Input = JsonObject

export interface Field {
  readonly type: 'string' | 'integer' | 'boolean' | 'strings'
  readonly description: string
  readonly optional?: true
}

/** A tool as the model sees it, and its calls as users see them. The implementations are in `tool-runs.ts`. */
export interface Tool {
  readonly displayName: string
  readonly description: string
  readonly fields: { readonly [name: string]: Field }
  /**
   * Set for a tool whose calls run without approval, because it only reads, or because users see everything that it
   * starts.
   */
  readonly noApproval?: true
  /** The name of the one input field that the user may change when approving the call. */
  readonly editable?: string
  /** Describes the call in one line of Markdown. */
  invocationMessage(input: Input): string
}

const pathField = (description: string): Field => ({ type: 'string', description })
const optional = (type: Field['type'], description: string): Field => ({ type, description, optional: true })

export const tools = {
  read: {
    displayName: 'Read',
    description: 'Reads a text file of the working directories.',
    fields: {
      path: pathField('Absolute, or relative to the working directory.'),
      from: optional('integer', 'The first line to read; 1 is the first of the file.'),
      lines: optional('integer', 'How many lines to read.'),
    },
    noApproval: true,
    invocationMessage: (input) => `Read ${quotedField(input, 'path')}`,
  },
  list: {
    displayName: 'List',
    description: 'Lists what a directory holds. Directories end with a slash.',
    fields: { path: optional('string', 'Absent: the working directory.') },
    noApproval: true,
    invocationMessage: (input) => `List ${quotedField(input, 'path')}`,
  },
  search: {
    displayName: 'Search',
    description:
      'Finds lines in files that version control does not ignore: those with a text, or those that match a pattern.',
    fields: {
      text: optional('string', 'A part of one line, as it stands there. Give this or pattern.'),
      pattern: optional(
        'string',
        'A regular expression for a part of one line, as in JavaScript. There are no back references and no lookaround.',
      ),
      path: optional('string', 'A directory or a file. Absent: the working directory.'),
      glob: optional('string', 'Which files, by their paths from there, as in **/*.ts'),
      ignoreCase: optional('boolean', 'Whether letters may differ in case.'),
    },
    noApproval: true,
    invocationMessage: (input) =>
      typeof input['pattern'] === 'string'
        ? `Search for the pattern ${quotedField(input, 'pattern')}`
        : `Search for ${quotedField(input, 'text')}`,
  },
  edit: {
    displayName: 'Edit',
    description: 'Puts a text in the place of another that the file has exactly once. Read the file first.',
    fields: {
      path: pathField('The file.'),
      find: {
        type: 'string',
        description: 'As it stands in the file, with enough around it to be there once.',
      },
      put: { type: 'string', description: 'What comes in its place.' },
    },
    invocationMessage: (input) => `Edit ${quotedField(input, 'path')}`,
  },
  write: {
    displayName: 'Write',
    description: 'Writes a whole file, new or in the place of what it has.',
    fields: { path: pathField('The file.'), text: { type: 'string', description: 'All of it.' } },
    invocationMessage: (input) => `Write ${quotedField(input, 'path')}`,
  },
  comments: {
    displayName: 'Comments',
    description: 'Lists the comments that people and agents have made on files, with their ids and the code.',
    fields: {
      path: optional('string', 'A file. Absent: all files.'),
      all: optional('boolean', 'Whether resolved comments are listed, too.'),
    },
    noApproval: true,
    invocationMessage: (input) => `Read the comments on ${quotedField(input, 'path')}`,
  },
  comment: {
    displayName: 'Comment',
    description: 'Comments on lines of a file. Users see the comment beside the code.',
    fields: {
      path: pathField('The file.'),
      line: optional('integer', 'The first line; 1 is the first of the file. Absent: the whole file.'),
      lastLine: optional('integer', 'The last line. Absent: one line.'),
      text: { type: 'string', description: 'Markdown.' },
    },
    noApproval: true,
    invocationMessage: (input) => `Comment on ${quotedField(input, 'path')}`,
  },
  reply: {
    displayName: 'Reply',
    description: 'Answers a comment.',
    fields: {
      id: { type: 'string', description: 'The id of the comment.' },
      text: { type: 'string', description: 'Markdown.' },
      resolve: optional('boolean', 'Whether the comment is done with.'),
    },
    noApproval: true,
    invocationMessage: (input) => `Reply to the comment ${quotedField(input, 'id')}`,
  },
  run: {
    displayName: 'Run',
    description: 'Runs a line in a shell, in the working directory. It must end by itself, and asks nothing.',
    fields: { command: { type: 'string', description: 'The line, for the shell.' } },
    editable: 'command',
    invocationMessage: (input) => `Run ${quotedField(input, 'command')}`,
  },
  leave: {
    displayName: 'Leave running',
    description: 'Runs a line in a shell that runs on after your answer, as a server does.',
    fields: { command: { type: 'string', description: 'The line, for the shell.' } },
    editable: 'command',
    invocationMessage: (input) => `Leave ${quotedField(input, 'command')} running`,
  },
  ask: {
    displayName: 'Ask',
    description: 'Asks the user something that you cannot find out and must know to go on.',
    fields: {
      question: { type: 'string', description: 'One question.' },
      options: optional('strings', 'Answers to choose from. Absent: any text.'),
    },
    noApproval: true,
    invocationMessage: (input) => `Ask ${quotedField(input, 'question')}`,
  },
  skill: {
    displayName: 'Skill',
    description: 'Gives the instructions of a skill that the system prompt lists.',
    fields: { name: { type: 'string', description: 'As it stands in the list.' } },
    noApproval: true,
    invocationMessage: (input) => `Read the skill ${quotedField(input, 'name')}`,
  },
  spawn: {
    displayName: 'Worker',
    description: 'Lets a worker do a task of its own, and gives its answer. It knows nothing but the task.',
    fields: {
      title: { type: 'string', description: 'A few words.' },
      task: { type: 'string', description: 'All that it must know.' },
    },
    noApproval: true,
    invocationMessage: (input) => `A worker does ${quotedField(input, 'title')}`,
  },
} as const satisfies { readonly [name: string]: Tool }

export type ToolName = keyof typeof tools

export function findTool(name: string): Tool | undefined {
  return isTool(name) ? tools[name] : undefined
}

/**
 * Returns the tool name of a call of one of this agent's own tools. Undefined for a tool of a client or an MCP server, which
 * may have the same name as a tool of this agent.
 */
export function ownName({ toolName, contributor }: Pick<ToolCallState, 'toolName' | 'contributor'>) {
  return contributor ? undefined : toolName
}

export function isTool(name: string): name is ToolName {
  return Object.hasOwn(tools, name)
}

/** Returns what is wrong with an input, as text for the model. Returns undefined for a valid input. */
export function inputProblem({ fields }: Tool, input: unknown): string | undefined {
  if (!isJsonObject(input)) return 'the input is not an object'
  for (const [name, { type, optional: isOptional }] of Object.entries(fields)) {
    const value = input[name]
    if (value === undefined || value === null) {
      if (!isOptional) return `${name} is missing`
    } else if (!typeChecks[type](value))
      return `${name} must be ${type === 'strings' ? 'a list of strings' : `a ${type}`}`
  }
  return undefined
}

const typeChecks: { readonly [T in Field['type']]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
}

/** Converts an input to the text that the log stores. */
export function inputText({ editable }: Tool, input: Input): string {
  return editable === undefined ? JSON.stringify(input) : textField(input, editable)
}

/** Parses a stored input. Returns undefined if the input is invalid, which is possible after a user has edited it. */
export function parseInput(tool: Tool, text: string): Input | undefined {
  if (tool.editable !== undefined) return { [tool.editable]: text }
  try {
    const input: unknown = JSON.parse(text)
    return inputProblem(tool, input) === undefined && isJsonObject(input) ? input : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the stored input of a call for a request to the model. Providers accept only an object, so any other input becomes
 * an empty object.
 */
export function inputForModel(tool: Tool | undefined, text: string): Input {
  if (tool?.editable !== undefined) return { [tool.editable]: text }
  try {
    const input: unknown = JSON.parse(text)
    return isJsonObject(input) ? input : {}
  } catch {
    return {}
  }
}

export function textField(input: Input, field: string): string {
  const value = input[field]
  return typeof value === 'string' ? value : ''
}

/** Returns the strings in a list field. Other elements are left out. */
export function textsField(input: Input, field: string): readonly string[] {
  const value = input[field]
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** Returns the input fields as JSON Schema, for the model. */
export function schemaOf({ fields }: Tool) {
  const entries = Object.entries(fields)
  return {
    type: 'object' as const,
    properties: Object.fromEntries(entries.map(([name, field]) => [name, propertySchema(field)])),
    required: entries.flatMap(([name, field]) => (field.optional ? [] : [name])),
    additionalProperties: false,
  }
}

function propertySchema({ type, description }: Field) {
  if (type !== 'strings') return { type, description }
  return { type: 'array' as const, items: { type: 'string' as const }, description }
}

/** The tools as the state of a session shows them. */
export const toolDefinitions: readonly ToolDefinition[] = Object.entries<Tool>(tools).map(([name, tool]) => ({
  name,
  title: tool.displayName,
  description: tool.description,
  inputSchema: schemaOf(tool),
}))

/** Quotes a text as Markdown code on one line, cut after 100 characters. */
export function quoted(text: string): string {
  const line = text.slice(0, 400).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim()
  const short = /^.{0,100}/su.exec(line)?.[0] ?? ''
  return short === line ? `\`${line}\`` : `\`${short}…\``
}

function quotedField(input: Input, field: string): string {
  const text = textField(input, field)
  return quoted(text === '' ? '.' : text)
}
