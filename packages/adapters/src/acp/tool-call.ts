import type { ConfirmationOption, ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { FileEdit } from '@atrium/protocol/common/content'
import { fieldsOf } from './process/schema.ts'
import type { ToolCallContent, ToolCallUpdate } from './process/schema.ts'

/** A tool call of the chat, with the values from the agent's updates. */
export interface ToolCall {
  /** The id in the chat. The agent's own ids cannot be used, because agents repeat them. */
  readonly id: string
  readonly toolName: string
  readonly displayName: string
  title: string
  /** The tool kind of ACP, for example `edit` or `execute`. */
  kind: string
  input: string | undefined
  content: readonly ToolCallContent[]
  /** The terminal output, from agents that send it in `_meta`. */
  output: string
  rawOutput: unknown
  /** The call as it was shown when users were asked last. Undefined if they were never asked. */
  preview: Preview | undefined
  /** `unannounced`: the chat does not have the call yet. `streaming`: its input may grow. `pending`: users are asked. */
  phase: 'unannounced' | 'streaming' | 'pending' | 'running' | 'ended'
  /** The part of the input that was sent to the chat. */
  streamedInput: string
}

/** The members of a call that users see when they are asked. Later updates by the agent do not change what users agreed to. */
export type Preview = Pick<ToolCall, 'title' | 'kind' | 'input' | 'content'>

/** The additions to a call's preview when users are asked. */
export interface Question {
  readonly options?: readonly ConfirmationOption[]
  /** Absent: the diffs of the call. */
  readonly edits?: readonly FileEdit[]
  readonly reason?: string
}

/** A call that users have approved. */
export interface PermittedCall {
  readonly call: ToolCall
  /** Whether the host made the call, because the agent had none. */
  readonly isHostCall: boolean
  /** The preview that users approved earlier. Absent: users were asked just now. */
  readonly preview?: Preview | undefined
}

export type CallLabels = Pick<ToolCall, 'toolName' | 'displayName' | 'title'>

export function newToolCall(labels: CallLabels & Partial<ToolCall>, id: string): ToolCall {
  return {
    kind: 'other',
    input: undefined,
    content: [],
    output: '',
    rawOutput: undefined,
    preview: undefined,
    phase: 'unannounced',
    streamedInput: '',
    ...labels,
    id,
  }
}

/** Changes the members of a call that an update names, and no others. */
export function applyUpdate(call: ToolCall, update: ToolCallUpdate): void {
  call.title = oneLine(update.title) ?? call.title
  call.kind = oneLine(update.kind) ?? call.kind
  call.input = inputText(update.rawInput) ?? call.input
  if (update.content) call.content = objectsIn(update.content)
  if (update.rawOutput !== undefined) call.rawOutput = update.rawOutput
  const { terminal_output: whole, terminal_output_delta: delta } = update._meta ?? {}
  if (typeof whole?.data === 'string') call.output = whole.data.slice(-maxOutput)
  if (typeof delta?.data === 'string') call.output = (call.output + delta.data).slice(-maxOutput)
}

/** Returns the objects of a list. The value comes from an agent and may be no list, or hold anything. */
export function objectsIn<T>(list: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : []
}

/** In characters. */
const maxOutput = 1_000_000

/** The key in a call's `_meta` for the number of the question that the call was last asked with. */
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

/** Returns the names of a new call. Permissions are stored by tool name, so the title is never used as one. */
export function labelsOf(update: ToolCallUpdate): CallLabels {
  const [name, kind] = [oneLine(update.name), oneLine(update.kind)]
  const ownName = name ?? vendorToolName(update._meta)
  const displayName = ownName ?? kindNames.get(kind ?? '') ?? 'Tool'
  return { toolName: ownName ?? kind ?? 'other', displayName, title: oneLine(update.title) ?? displayName }
}

/** Returns the tool name from `_meta`, where each vendor has a member of its own for it. */
function vendorToolName(meta: object | null | undefined): string | undefined {
  for (const vendor of Object.values(meta ?? {})) {
    const { toolName, toolCall } = fieldsOf(vendor)
    const found = oneLine(toolName ?? fieldsOf(toolCall)['toolName'])
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns a string on one line, cut to a length. Undefined for an empty string and any other value. */
export function oneLine(value: unknown, maxLength = 500): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value.replaceAll(/\s+/g, ' ').trim()
  // The cut may leave the first half of a surrogate pair.
  return line.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '') || undefined
}

/** Tells whether a question about a call is answered. An answer to a later question answers the earlier ones too. */
export function isDecided(call: ToolCallState | undefined, question: number): boolean {
  if (call === undefined || questionOf(call) < question) return false
  return call.status !== 'pending-confirmation' && call.status !== 'streaming'
}

/** Returns the number of the last question about a call, counted over the turn. 0: no question. */
export function questionOf({ _meta }: ToolCallState): number {
  const question = _meta?.[questionKey]
  return typeof question === 'number' ? question : 0
}

export function isApproved(call: ToolCallState): boolean {
  return call.status === 'running' && call.confirmed !== 'not-needed' && call.contributor?.kind !== 'client'
}

/** Returns the input as text: a command as it is, anything else as JSON, without ids and times that differ in each call. */
function inputText(raw: unknown): string | undefined {
  if (typeof raw === 'string') return raw
  if (typeof raw !== 'object' || raw === null) return undefined
  const { command } = fieldsOf(raw)
  if (typeof command === 'string') return command
  const stable = Object.entries(raw).filter(([key]) => !/(?:^|_)(?:id|ms)$/.test(key))
  return stable.length === 0 ? undefined : JSON.stringify(Object.fromEntries(stable))
}

/** Returns the result of a tool as text: the member that usually holds the text, else all of it as JSON. */
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
