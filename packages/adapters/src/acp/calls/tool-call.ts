import { resolve } from 'node:path'
import type { Chat } from '@atrium/host/ports/agent'
import type { ConfirmationOption, ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { FileEdit } from '@atrium/protocol/common/content'
import { fieldsOf } from '../process/schema.ts'
import type { ToolCallContent, ToolCallUpdate } from '../process/schema.ts'

/** A tool call of the chat, with the values from the agent's updates. */
export interface ToolCall {
  /** The id of the call in the chat. It is not the agent's id, because agents use the same id for several calls. */
  readonly id: string
  readonly toolName: string
  readonly displayName: string
  title: string
  /** The tool kind of ACP, for example `edit` or `execute`. */
  kind: string
  input: string | undefined
  content: readonly ToolCallContent[]
  /** The files that the agent says the call works on. */
  locations: readonly string[]
  /** The terminal output of the call. Some agents send it in `_meta`. */
  output: string
  rawOutput: unknown
  /** The members of the call that users saw when they were last asked. Undefined if they were never asked. */
  preview: Preview | undefined
  /**
   * `unannounced`: the chat does not contain the call yet. `streaming`: the input may still grow. `pending`: users are asked.
   */
  phase: 'unannounced' | 'streaming' | 'pending' | 'running' | 'ended'
  /** The part of the input that was sent to the chat. */
  streamedInput: string
  /**
   * The call of an earlier agent process that this call repeats. Undefined as soon as the agent has asked about this
   * call: the earlier decision answers one question only.
   */
  earlier: ToolCallState | undefined
}

/**
 * The members of a call that users see when they are asked. They are copied, so that later updates of the agent do not change
 * what users approved.
 */
export type Preview = Pick<ToolCall, 'title' | 'kind' | 'input' | 'content'>

/** What users see besides the preview of a call when they are asked. */
export interface Question {
  readonly options?: readonly ConfirmationOption[]
  /** The file changes to show. Absent: the diffs of the call. */
  readonly edits?: readonly FileEdit[]
  readonly reason?: string
  /**
   * The tool of the host that does the work once users agree. Absent: the agent does the work itself, so no stored
   * permission answers the question.
   */
  readonly hostTool?: string
}

/**
 * A call that users have approved, for an operation that the agent requests from the host: writing a file or running
 * a command.
 */
export interface PermittedCall {
  readonly call: ToolCall
  /** Whether the host created the call, because no call of the agent showed the requested operation. */
  readonly isHostCall: boolean
  /**
   * The preview that users had already approved when the operation was requested. Absent: users were asked after the
   * request.
   */
  readonly preview?: Preview | undefined
}

export type CallLabels = Pick<ToolCall, 'toolName' | 'displayName' | 'title'>

export function newToolCall(labels: CallLabels & Partial<ToolCall>, id: string): ToolCall {
  return {
    kind: 'other',
    input: undefined,
    content: [],
    locations: [],
    output: '',
    rawOutput: undefined,
    preview: undefined,
    phase: 'unannounced',
    streamedInput: '',
    earlier: undefined,
    ...labels,
    id,
  }
}

/** Applies an update to a call. Only the members that the update names are changed. */
export function applyUpdate(call: ToolCall, update: ToolCallUpdate): void {
  call.title = oneLine(update.title) ?? call.title
  call.kind = oneLine(update.kind) ?? call.kind
  call.input = inputText(update.rawInput) ?? call.input ?? streamedInput(update)
  if (update.content) call.content = objectsIn(update.content)
  if (update.locations) call.locations = objectsIn(update.locations).flatMap(pathOf)
  if (update.rawOutput !== undefined) call.rawOutput = update.rawOutput
  const { terminal_output: whole, terminal_output_delta: delta } = update._meta ?? {}
  if (typeof whole?.data === 'string') call.output = whole.data.slice(-maxOutput)
  if (typeof delta?.data === 'string') call.output = (call.output + delta.data).slice(-maxOutput)
}

function pathOf({ path }: { readonly path?: unknown }): readonly string[] {
  return typeof path === 'string' ? [path] : []
}

/**
 * Tells the host which files a call changes. Tells nothing if nobody knows them: the agent runs a command, or it does not
 * say which files it changes.
 */
export async function nameFiles(
  { id, kind, content, locations }: ToolCall,
  chat: Chat,
  cwd: string,
): Promise<void> {
  if (kind === 'execute' || content.some(({ type }) => type === 'terminal')) return
  const diffs = content.flatMap((item) => (item.type === 'diff' ? pathOf(item) : []))
  const files = changingKinds.has(kind) ? [...diffs, ...locations] : diffs
  const paths = files.map((path) => resolve(cwd, path))
  if (paths.length > 0) await chat.files.writesOnly(id, paths)
}

/** The kinds of ACP whose locations are the files that the call changes. */
const changingKinds = new Set(['edit', 'delete', 'move'])

/**
 * Returns the elements of a list that are objects. The value comes from an agent, so it may be something else than a list,
 * and its elements may be anything.
 */
export function objectsIn<T>(list: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : []
}

/** The maximum length of a call's terminal output and of its streamed input, in characters. */
const maxOutput = 1_000_000

/** The key in a call's `_meta` that holds the number of the last question about the call. */
export const questionKey = 'x-atrium.asked'

/** Display names of ACP's tool kinds. */
const kindNames: ReadonlyMap<string, string> = new Map([
  ['read', 'Read'],
  ['edit', 'Edit'],
  ['delete', 'Delete'],
  ['move', 'Move'],
  ['search', 'Search'],
  ['execute', 'Run'],
  ['think', 'Think'],
  ['fetch', 'Fetch'],
  ['switch_mode', 'Switch mode'],
])

/** Returns the names of a new call. Permissions are stored by tool name, so a title must never become a tool name. */
export function labelsOf(update: ToolCallUpdate): CallLabels {
  const [name, kind] = [oneLine(update.name), oneLine(update.kind)]
  const ownName = name ?? vendorToolName(update._meta)
  const displayName = ownName ?? kindNames.get(kind ?? '') ?? 'Tool'
  return { toolName: ownName ?? kind ?? 'other', displayName, title: oneLine(update.title) ?? displayName }
}

/** Returns the tool name from `_meta`. Each vendor stores the tool name in a member of its own. */
function vendorToolName(meta: object | null | undefined): string | undefined {
  for (const vendor of Object.values(meta ?? {})) {
    const { toolName, toolCall } = fieldsOf(vendor)
    const found = oneLine(toolName ?? fieldsOf(toolCall)['toolName'])
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Returns a string on one line, cut to `maxLength`. Returns undefined for an empty string, and for a value that is not a
 * string.
 */
export function oneLine(value: unknown, maxLength = 500): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value.replaceAll(/\s+/g, ' ').trim()
  // The cut may leave the first half of a surrogate pair at the end. It is removed.
  return line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '') || undefined
}

/** Tells whether a question about a call is answered. An answer to a later question answers the earlier ones too. */
export function isDecided(call: ToolCallState | undefined, question: number): boolean {
  if (call === undefined || questionOf(call) < question) return false
  return call.status !== 'pending-confirmation' && call.status !== 'streaming'
}

/**
 * Returns the number of the last question about a call. Questions are numbered within the turn. 0 means that there was no
 * question.
 */
export function questionOf({ _meta }: ToolCallState): number {
  const question = _meta?.[questionKey]
  return typeof question === 'number' ? question : 0
}

export function isApproved(call: ToolCallState): boolean {
  return call.status === 'running' && call.confirmed !== 'not-needed' && call.contributor?.kind !== 'client'
}

/**
 * Returns the input as text. A command is returned unchanged, anything else as JSON. Ids and times are left out of the JSON,
 * because they differ in each call.
 */
function inputText(raw: unknown): string | undefined {
  if (typeof raw === 'string') return raw
  if (typeof raw !== 'object' || raw === null) return undefined
  const { command } = fieldsOf(raw)
  if (typeof command === 'string') return command
  const stable = Object.entries(raw).filter(([key]) => !/(?:^|_)(?:id|ms)$/.test(key))
  return stable.length === 0 ? undefined : JSON.stringify(Object.fromEntries(stable))
}

/**
 * Returns the input of a call whose agent streams it as a JSON text in the content, as Kimi does. Users then see the
 * whole command before they allow it, and not only the title that the agent gave. Returns undefined until the text is
 * complete, because only then it is JSON.
 */
function streamedInput(update: ToolCallUpdate): string | undefined {
  const text = streamedText(update)
  if (text === undefined || text.length > maxOutput) return undefined
  try {
    return inputText(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Whether an update streams the input of a call, and the end of the input has not come yet. */
export function isInputGrowing({ input }: ToolCall, update: ToolCallUpdate): boolean {
  return input === undefined && streamedText(update) !== undefined
}

function streamedText({ status, content }: ToolCallUpdate): string | undefined {
  if (status !== 'pending' && status !== 'in_progress') return undefined
  const [item, ...others] = objectsIn(content)
  if (item?.type !== 'content' || others.length > 0) return undefined
  const text = item.content?.type === 'text' ? item.content.text : undefined
  return typeof text === 'string' && text.startsWith('{') ? text : undefined
}

/** Returns the result of a tool as text: the member that usually holds the text, else the whole result as JSON. */
export function outputText(raw: unknown): string {
  if (typeof raw === 'string') return raw
  const fields = fieldsOf(raw)
  const found = outputKeys.map((key) => fields[key]).find((each) => typeof each === 'string')
  return typeof found === 'string' ? found : JSON.stringify(raw, null, 2)
}

const outputKeys = ['formatted_output', 'aggregated_output', 'output', 'stdout', 'text']

export function firstText(content: readonly ToolResultContent[]): string | undefined {
  return content.find((each) => each.type === 'text')?.text
}
