/** What a tool is given: what the model wrote, once it was looked at. */
export type Input = { readonly [field: string]: unknown }

export interface Field {
  readonly type: 'string' | 'integer' | 'boolean' | 'strings'
  readonly description: string
  readonly optional?: true
}

/** A tool, as the model and the people who are asked see it. What it does is in `tool-runs.ts`. */
export interface Tool {
  readonly displayName: string
  readonly description: string
  readonly fields: { readonly [name: string]: Field }
  /** Nobody is asked for it: it looks, or asks and works under the eyes of people anyway. */
  readonly free?: true
  /** What it is given is this one field, which whoever approves may change. */
  readonly editable?: string
  /** What it is about to do, in a line. */
  asks(input: Input): string
}

const path = (description: string): Field => ({ type: 'string', description })
const optional = (type: Field['type'], description: string): Field => ({ type, description, optional: true })

export const tools = {
  read: {
    displayName: 'Read',
    description: 'Reads a text file of the working directories.',
    fields: {
      path: path('Absolute, or relative to the working directory.'),
      from: optional('integer', 'The first line to read; 1 is the first of the file.'),
      lines: optional('integer', 'How many lines to read.'),
    },
    free: true,
    asks: (input) => `Read ${named(input, 'path')}`,
  },
  list: {
    displayName: 'List',
    description: 'Lists what a directory holds. Directories end with a slash.',
    fields: { path: optional('string', 'Absent: the working directory.') },
    free: true,
    asks: (input) => `List ${named(input, 'path')}`,
  },
  search: {
    displayName: 'Search',
    description:
      'Finds the lines that have a text (no pattern), in files that version control does not ignore.',
    fields: {
      text: { type: 'string', description: 'A part of one line, as it stands there.' },
      path: optional('string', 'A directory or a file. Absent: the working directory.'),
      glob: optional('string', 'Which files, by their paths from there, as in **/*.ts'),
      ignoreCase: optional('boolean', 'Whether letters may differ in case.'),
    },
    free: true,
    asks: (input) => `Search for ${named(input, 'text')}`,
  },
  edit: {
    displayName: 'Edit',
    description: 'Puts a text in the place of another that the file has exactly once. Read the file first.',
    fields: {
      path: path('The file.'),
      find: {
        type: 'string',
        description: 'As it stands in the file, with enough around it to be there once.',
      },
      put: { type: 'string', description: 'What comes in its place.' },
    },
    asks: (input) => `Edit ${named(input, 'path')}`,
  },
  write: {
    displayName: 'Write',
    description: 'Writes a whole file, new or in the place of what it has.',
    fields: { path: path('The file.'), text: { type: 'string', description: 'All of it.' } },
    asks: (input) => `Write ${named(input, 'path')}`,
  },
  run: {
    displayName: 'Run',
    description: 'Runs a line in a shell, in the working directory. It must end by itself, and asks nothing.',
    fields: { command: { type: 'string', description: 'The line, for the shell.' } },
    editable: 'command',
    asks: (input) => `Run ${named(input, 'command')}`,
  },
  ask: {
    displayName: 'Ask',
    description: 'Asks the user something that you cannot find out and must know to go on.',
    fields: {
      question: { type: 'string', description: 'One question.' },
      options: optional('strings', 'Answers to choose from. Absent: any text.'),
    },
    free: true,
    asks: (input) => `Ask ${named(input, 'question')}`,
  },
  spawn: {
    displayName: 'Worker',
    description: 'Lets a worker do a task of its own, and gives its answer. It knows nothing but the task.',
    fields: {
      title: { type: 'string', description: 'A few words.' },
      task: { type: 'string', description: 'All that it must know.' },
    },
    free: true,
    asks: (input) => `A worker does ${named(input, 'title')}`,
  },
} as const satisfies { readonly [name: string]: Tool }

export type ToolName = keyof typeof tools

export function toolOf(name: string): Tool | undefined {
  return Object.hasOwn(tools, name) ? tools[name as ToolName] : undefined
}

/** Whether a name is one of ours. */
export function isTool(name: string): name is ToolName {
  return Object.hasOwn(tools, name)
}

/** What is wrong with what a model gave to a tool, in words for the model. */
export function inputProblem({ fields }: Tool, input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return 'the input is no object'
  for (const [name, { type, optional: absent }] of Object.entries(fields)) {
    const value = (input as Input)[name]
    if (value === undefined || value === null) {
      if (!absent) return `${name} is missing`
    } else if (!fits[type](value))
      return `${name} must be ${type === 'strings' ? 'a list of texts' : `a ${type}`}`
  }
  return undefined
}

const fits: { readonly [T in Field['type']]: (value: unknown) => boolean } = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  strings: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
}

/** How an input stands in the log; and back. */
export function inputText({ editable }: Tool, input: Input): string {
  return editable === undefined ? JSON.stringify(input) : textIn(input, editable)
}

export function inputOf(tool: Tool, text: string): Input | undefined {
  if (tool.editable !== undefined) return { [tool.editable]: text }
  try {
    const input: unknown = JSON.parse(text)
    return inputProblem(tool, input) === undefined ? (input as Input) : undefined
  } catch {
    return undefined
  }
}

/** What a model is told that it gave to a tool: whatever it was, it is an object there. */
export function inputSent(tool: Tool | undefined, text: string): Input {
  if (tool?.editable !== undefined) return { [tool.editable]: text }
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Input) : {}
  } catch {
    return {}
  }
}

export function textIn(input: Input, field: string): string {
  const value = input[field]
  return typeof value === 'string' ? value : ''
}

/** As JSON Schema, which is what models are told. */
export function schemaOf({ fields }: Tool) {
  const entries = Object.entries(fields)
  return {
    type: 'object' as const,
    properties: Object.fromEntries(entries.map(([name, field]) => [name, property(field)])),
    required: entries.flatMap(([name, field]) => (field.optional ? [] : [name])),
    additionalProperties: false,
  }
}

function property({ type, description }: Field) {
  if (type !== 'strings') return { type, description }
  return { type: 'array' as const, items: { type: 'string' as const }, description }
}

/** On one line, and not longer than one reads. */
export function quoted(text: string): string {
  const line = text.slice(0, 400).replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim()
  const short = /^.{0,100}/su.exec(line)?.[0] ?? ''
  return short === line ? `\`${line}\`` : `\`${short}…\``
}

function named(input: Input, field: string): string {
  const text = textIn(input, field)
  return quoted(text === '' ? '.' : text)
}
