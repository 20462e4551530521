import { createHash } from 'node:crypto'
import type { Chat } from '@atrium/host/ports/agent'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { ConfirmationOption, ToolCallState } from '@atrium/protocol/chat/tool'
import type { FileEdit } from '@atrium/protocol/common/content'
import type { Call, Shown } from './tool-call.ts'
import type { CallContent } from './process/schema.ts'

/** What is asked of people before a call may go on. */
export interface Question {
  readonly options?: readonly ConfirmationOption[]
  readonly edits?: readonly FileEdit[]
  /** Why it is asked for. */
  readonly reason?: string
}

/** The call that something may be done for; whether it is the host's own; and what was seen of it, where nobody was asked just now. */
export interface Permitted {
  readonly call: Call
  readonly own: boolean
  readonly shown?: Shown | undefined
}

type Diff = Extract<CallContent, { readonly type: 'diff' }>

export function shownOf({ title, kind, input, content }: Call): Shown {
  return { title, kind, input, content }
}

/** Whether a line is what was shown: all of the input, or of what there is to run in it; or the title, where there is nothing else. */
export function showsLine({ title, kind, input, content }: Shown, lines: readonly string[]): boolean {
  if (!lineKinds.has(kind) || diffsIn(content).length > 0) return false
  if (input === undefined) return lines.includes(title)
  const fields = Object.entries(fieldsOf(input)).filter(([key]) => /^(?:command|cmd|script)/i.test(key))
  const shown = fields.flatMap(([, value]) =>
    Array.isArray(value) ? [value.map(String).map(quoted).join(' '), ...innerLine(value)] : value,
  )
  return lines.some((line) => input === line || shown.includes(line))
}

/** What a shell of the system is given to run is the line; which shell that is says little. */
export function innerLine(words: readonly unknown[]): readonly string[] {
  const [shell, flag, line] = words
  const isShell = words.length === 3 && systemShell.test(String(shell)) && /^-l?c$/.test(String(flag))
  return isShell && typeof line === 'string' ? [line] : []
}

const systemShell = /^(?:\/(?:usr\/(?:local\/)?)?bin\/)?(?:ba|da|z)?sh$/

/** A word for a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Whether a file is named in what was shown, by a call that may mean to write it. */
export function showsFile({ kind, input, content }: Shown, path: string): boolean {
  if (!fileKinds.has(kind)) return false
  if (input !== undefined && (input === path || Object.values(fieldsOf(input)).includes(path))) return true
  return diffsIn(content, path).length > 0
}

/**
 * Whether a file will have what was shown of it: a whole text, or one that stands in the place of another. Of a call that shows no change
 * this cannot be said.
 */
export async function showsText(
  { content }: Shown,
  path: string,
  text: string,
  chat: Chat,
): Promise<boolean> {
  const [diff, ...more] = diffsIn(content, path)
  if (!diff) return true
  if (more.length > 0) return false
  const { oldText: find, newText: put = '' } = diff
  if (put === text || !find) return put === text
  try {
    const [shown, wished] = [
      await chat.files.propose(path, { find, put }),
      await chat.files.propose(path, { text }),
    ]
    return shown.after?.content.uri === wished.after?.content.uri
  } catch (error) {
    if (error instanceof TurnFailed) return false
    throw error
  }
}

/** Where a call says which changes people saw. */
export const shownKey = 'x-atrium.shown'

/** The changes that are shown with a question, in short: what is asked again with others is another question. */
export function changesIn(shown: readonly FileEdit[] | readonly CallContent[]): string | undefined {
  const changes = shown.filter((each) => !('type' in each) || each.type === 'diff')
  if (changes.length === 0) return undefined
  return createHash('sha256').update(JSON.stringify(changes)).digest('hex')
}

/** Whether a call is one that was asked for before, and shows the same. */
export function isSame(before: ToolCallState, { toolName, input, title, content }: Call): boolean {
  if (before.toolName !== toolName || before._meta?.[shownKey] !== changesIn(content)) return false
  const known = 'toolInput' in before ? before.toolInput : undefined
  return known === input && (known !== undefined || before.invocationMessage === title)
}

/** Kinds of calls that run something, or may. */
const lineKinds: ReadonlySet<string> = new Set(['execute', 'other'])
/** Those that write something, or may. */
const fileKinds: ReadonlySet<string> = new Set(['edit', 'other'])

function diffsIn(content: readonly CallContent[], path?: string): readonly Diff[] {
  return content.filter(
    (item): item is Diff => item.type === 'diff' && (path === undefined || item.path === path),
  )
}

/** What a tool is given, where that is an object. A line that has such a text in it is none. */
function fieldsOf(input: string): { readonly [key: string]: unknown } {
  if (!input.startsWith('{')) return {}
  try {
    return JSON.parse(input) as { readonly [key: string]: unknown }
  } catch {
    return {}
  }
}
