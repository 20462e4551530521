import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { CallContent, ToolCall } from './process/schema.ts'

/** A tool call as the chat has it, and what the agent has said of it. */
export interface Call {
  /** As the chat calls it: agents use their names again. */
  readonly id: string
  readonly toolName: string
  readonly displayName: string
  title: string
  kind: string
  input: string | undefined
  content: readonly CallContent[]
  /** What it wrote, where it says so beside the protocol. */
  output: string
  rawOutput: unknown
  /** What people were asked about, when they were. */
  shown: Shown | undefined
  phase: 'unsaid' | 'begun' | 'asking' | 'running' | 'over'
  sent: string
}

/** What people saw of a call when they were asked. What its agent says of it later changes nothing of what they agreed to. */
export type Shown = Pick<Call, 'title' | 'kind' | 'input' | 'content'>

export type About = Pick<Call, 'toolName' | 'displayName' | 'title'>

export function newCall(about: About & Partial<Call>, id: string): Call {
  return {
    kind: 'other',
    input: undefined,
    content: [],
    output: '',
    rawOutput: undefined,
    shown: undefined,
    phase: 'unsaid',
    sent: '',
    ...about,
    id,
  }
}

/** What is said of a call is a change to what is known of it. */
export function learn(call: Call, said: ToolCall): void {
  call.title = wordOf(said.title) ?? call.title
  call.kind = wordOf(said.kind) ?? call.kind
  call.input = inputText(said.rawInput) ?? call.input
  if (said.content) call.content = objectsIn(said.content)
  if (said.rawOutput !== undefined) call.rawOutput = said.rawOutput
  const { terminal_output: whole, terminal_output_delta: more } = said._meta ?? {}
  if (typeof whole?.data === 'string') call.output = whole.data.slice(-longestOutput)
  if (typeof more?.data === 'string') call.output = (call.output + more.data).slice(-longestOutput)
}

/** Agents are programs of others: a list may be none, and may have anything in it. */
export function objectsIn<T>(list: readonly T[] | null | undefined): readonly T[] {
  return Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : []
}

const longestOutput = 1_000_000

/** Where a call says which question it was decided by. */
export const askedKey = 'x-atrium.asked'

/** What people call what an agent does. */
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

/** What a permission is given for is the tool; so its name must not have in it what is done with it. */
export function named(said: ToolCall): About {
  const [name, kind] = [wordOf(said.name), wordOf(said.kind)]
  const own = name ?? toolIn(said._meta)
  const displayName = own ?? kindNames.get(kind ?? '') ?? 'Tool'
  return { toolName: own ?? kind ?? 'other', displayName, title: wordOf(said.title) ?? displayName }
}

/** Vendors say it each in a place of their own. */
function toolIn(meta: object | null | undefined): string | undefined {
  for (const vendor of Object.values(meta ?? {})) {
    const { toolName, toolCall } = (vendor ?? {}) as {
      readonly toolName?: unknown
      readonly toolCall?: { readonly toolName?: unknown } | null
    }
    const found = wordOf(toolName ?? toolCall?.toolName)
    if (found !== undefined) return found
  }
  return undefined
}

/** A few words on one line; nothing where it is none. */
export function wordOf(value: unknown, most = 500): string | undefined {
  if (typeof value !== 'string') return undefined
  const line = value.replaceAll(/\s+/g, ' ').trim()
  // No half of a letter.
  return line.slice(0, most).replace(/[\ud800-\udbff]$/, '') || undefined
}

/** Who answers the newest question about a call has answered those before it. */
export function isDecided(call: ToolCallState | undefined, number: number): boolean {
  if (call === undefined || askedOf(call) < number) return false
  return call.status !== 'pending-confirmation' && call.status !== 'streaming'
}

/** How often it was asked for, in this turn. */
export function askedOf({ _meta }: ToolCallState): number {
  const number = _meta?.[askedKey]
  return typeof number === 'number' ? number : 0
}

export function isApproved(call: ToolCallState): boolean {
  return call.status === 'running' && call.confirmed !== 'not-needed' && call.contributor?.kind !== 'client'
}

/** A command is shown as it is typed; anything else as it was given, but for the numbers that are others each time. */
function inputText(raw: unknown): string | undefined {
  if (typeof raw === 'string') return raw
  if (typeof raw !== 'object' || raw === null) return undefined
  const { command } = raw as { readonly command?: unknown }
  if (typeof command === 'string') return command
  const lasting = Object.entries(raw).filter(([key]) => !/(?:^|_)(?:id|ms)$/.test(key))
  return lasting.length === 0 ? undefined : JSON.stringify(Object.fromEntries(lasting))
}

/** What a tool gave back: its text where it has one under a usual name, else all of it. */
export function outputText(raw: unknown): string {
  if (typeof raw === 'string') return raw
  const fields = (raw ?? {}) as { readonly [key: string]: unknown }
  const found = outputKeys.map((key) => fields[key]).find((each) => typeof each === 'string')
  return typeof found === 'string' ? found : JSON.stringify(raw, null, 2)
}

const outputKeys = ['formatted_output', 'aggregated_output', 'output', 'stdout', 'text']

export function textIn(content: readonly ToolResultContent[]): string | undefined {
  return content.find((each) => each.type === 'text')?.text
}
