import { createHash } from 'node:crypto'
import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { textOf } from '@atrium/protocol/common/content'
import type { FileEdit } from '@atrium/protocol/common/content'
import { changeIn } from './patch.ts'
import type { Change } from './patch.ts'
import type { Preview, ToolCall } from './tool-call.ts'
import { fieldsOf } from '../process/schema.ts'
import type { Fields, ToolCallContent } from '../process/schema.ts'

type Diff = Extract<ToolCallContent, { readonly type: 'diff' }>

export function previewOf({ title, kind, input, content }: ToolCall): Preview {
  return { title, kind, input, content }
}

/**
 * Tells whether a preview, which is what users saw of a call, shows one of these command lines. The line must be the
 * whole input, or a command in the input. If there is no input, the title must be the line.
 */
export function showsCommand({ title, kind, input, content }: Preview, lines: readonly string[]): boolean {
  if (!commandKinds.has(kind) || diffsIn(content).length > 0) return false
  if (input === undefined) return lines.includes(title)
  const fields = Object.entries(inputFields(input)).filter(([key]) => /^(?:command|cmd|script)/i.test(key))
  const commands = fields.flatMap(([, value]) =>
    Array.isArray(value) ? [value.map(String).map(shellQuote).join(' '), ...shellScript(value)] : value,
  )
  return lines.some((line) => input === line || commands.includes(line))
}

/**
 * Returns the script of a `sh -c script` command. A preview may show the script alone, because users do not care which system
 * shell runs it.
 */
export function shellScript(args: readonly unknown[]): readonly string[] {
  const [shell, flag, script] = args
  const isShell = args.length === 3 && systemShell.test(String(shell)) && /^-l?c$/.test(String(flag))
  return isShell && typeof script === 'string' ? [script] : []
}

const systemShell = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?(?:ba|da|z)?sh$/

/** Quotes one word for a POSIX shell, if needed. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Tells whether a preview shows this file. A call whose kind cannot write files shows none. */
export function showsFile({ kind, input, content }: Preview, path: string): boolean {
  if (!writeKinds.has(kind)) return false
  if (input !== undefined && (input === path || Object.values(inputFields(input)).includes(path))) return true
  return diffsIn(content, path).length > 0
}

/**
 * Tells whether the new text of a file equals the text that the preview shows. A diff of the file shows either the
 * whole file or the replacement of one passage. If there is no diff, the input may show the text. If there is
 * neither, the preview shows no text, and any text is accepted.
 */
export async function showsText(
  { content, input }: Preview,
  path: string,
  text: string,
  chat: Chat,
): Promise<boolean> {
  const [diff, ...more] = diffsIn(content, path)
  if (!diff) return textsIn(input).every((shown) => shown === text)
  if (more.length > 0) return false
  const { oldText: find, newText: put = '' } = diff
  if (put === text || !find) return put === text
  try {
    const [shown, requested] = [
      await chat.files.propose(path, { find, put }),
      await chat.files.propose(path, { text }),
    ]
    return shown.after?.content.uri === requested.after?.content.uri
  } catch (error) {
    if (error instanceof TurnFailed) return false
    throw error
  }
}

/** Returns the text of a whole file that the input of a call contains, as a list of at most one text. */
function textsIn(input = ''): readonly string[] {
  const { content } = inputFields(input)
  return typeof content === 'string' ? [content] : []
}

/** Returns the change of a file that the input of a call describes. Agents name the members of the input differently. */
export function writeIn({ kind, toolName, title, input = '' }: ToolCall): Change | undefined {
  const isWrite =
    kind === 'edit' || (kind === 'other' && [toolName, title].some((each) => writeName.test(each)))
  const fields = isWrite ? inputFields(input) : {}
  const patch = fields['input']
  if (typeof patch === 'string') return changeIn(patch)
  // A text that is inserted at a line is neither a whole file nor a replacement.
  if (typeof fields['insert_line'] === 'number') return undefined
  const [path, text, find, put] = writeFields.map((names) =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string'),
  )
  if (typeof path !== 'string' || path === '') return undefined
  if (typeof find === 'string' && typeof put === 'string') return { path, edit: { find, put } }
  return typeof text === 'string' ? { path, edit: { text } } : undefined
}

const writeName = /^(?:write|edit|create|replace|str_?replace|apply_?patch)/i
/** The names of the path, the whole text, the text that is replaced, and its replacement. */
const writeFields: readonly (readonly string[])[] = [
  ['path', 'file_path', 'filePath'],
  ['content', 'file_text', 'new_text'],
  ['old_string', 'old_str', 'oldString', 'old_text', 'before'],
  ['new_string', 'new_str', 'newString', 'new_text', 'after'],
]

/** The key in a call's `_meta` for the hash of the changes that users saw. */
export const changesKey = 'x-atrium.shown'

/**
 * Returns a hash of the file changes that users see when they are asked about a call. A call with another hash needs
 * a new question, because users have not seen its changes.
 */
export function changesHash(shown: readonly FileEdit[] | readonly ToolCallContent[]): string | undefined {
  const changes = shown.filter((each) => !('type' in each) || each.type === 'diff')
  if (changes.length === 0) return undefined
  return createHash('sha256').update(JSON.stringify(changes)).digest('hex')
}

/**
 * Tells whether a new call repeats an earlier call of the chat. The tool, the input and the changes must be equal. If there
 * is no input, the titles must be equal too.
 */
export function isSameCall(earlier: ToolCallState, { toolName, input, title, content }: ToolCall): boolean {
  if (earlier.toolName !== toolName || earlier._meta?.[changesKey] !== changesHash(content)) return false
  const earlierInput = 'toolInput' in earlier ? earlier.toolInput : undefined
  return earlierInput === input && (earlierInput !== undefined || textOf(earlier.invocationMessage) === title)
}

/** Tool kinds of ACP that may run a command. */
const commandKinds: ReadonlySet<string> = new Set(['execute', 'other'])
/** Tool kinds of ACP that may write a file. */
const writeKinds: ReadonlySet<string> = new Set(['edit', 'other'])

function diffsIn(content: readonly ToolCallContent[], path?: string): readonly Diff[] {
  return content.filter(
    (item): item is Diff => item.type === 'diff' && (path === undefined || item.path === path),
  )
}

/**
 * Returns the members of an input that is a JSON object. Any other input has no members, even a command line that contains
 * JSON.
 */
function inputFields(input: string): Fields {
  if (!input.startsWith('{')) return {}
  try {
    return fieldsOf(JSON.parse(input))
  } catch {
    return {}
  }
}
