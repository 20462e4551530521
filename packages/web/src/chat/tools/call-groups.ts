import { planOf } from '@atrium/protocol/chat/plan'
import type { ResponsePart } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'

/** Parts of an answer: one part, or a run of finished tool calls that are shown as one line. `at`: the first index. */
export interface PartGroup {
  readonly at: number
  readonly parts: readonly ResponsePart[]
  /** The calls, if they are shown as one line. */
  readonly calls?: readonly ToolCallState[]
}

/** The fewest finished calls in a row that become one line. */
const fewest = 3

/**
 * The parts of an answer, in groups. Finished calls in a row are one group, once something else follows or the turn is over.
 * Calls whose results people look at (changes of files, pictures, ways to other chats) stay alone.
 */
export function partGroups(parts: readonly ResponsePart[], active: boolean): readonly PartGroup[] {
  const groups: PartGroup[] = []
  let run: ToolCallState[] = []
  const close = (end: number, over: boolean) => {
    const at = end - run.length
    if (over && run.length >= fewest) groups.push({ at, parts: parts.slice(at, end), calls: run })
    else for (let each = at; each < end; each++) groups.push(alone(parts, each))
    run = []
  }
  parts.forEach((part, at) => {
    if (part.kind === 'toolCall' && isQuiet(part.toolCall)) return void run.push(part.toolCall)
    // As long as calls follow calls, the last ones stay as they are: a person may be looking at them.
    close(at, part.kind !== 'toolCall' || !active)
    groups.push(alone(parts, at))
  })
  close(parts.length, !active)
  return groups
}

function alone(parts: readonly ResponsePart[], at: number): PartGroup {
  return { at, parts: parts.slice(at, at + 1) }
}

const foldable = new Set<string>(['text', 'terminal', 'resource'])

function isQuiet(call: ToolCallState): boolean {
  if (planOf(call) || (call.status !== 'completed' && call.status !== 'cancelled')) return false
  return !('content' in call) || (call.content ?? []).every(({ type }) => foldable.has(type))
}

const kinds: readonly { readonly names: RegExp; readonly words: (count: number) => string }[] = [
  { names: /^(?:read|view|read_file)$/i, words: (count) => `read ${counted(count, 'file')}` },
  { names: /^(?:run|execute|bash|shell)$/i, words: (count) => `ran ${counted(count, 'command')}` },
  { names: /^(?:search|grep|glob|find|list)$/i, words: (count) => `searched ${counted(count, 'time')}` },
  { names: /^fetch$/i, words: (count) => `fetched ${counted(count, 'page')}` },
]

/** A run of calls in words, as in "Read 6 files, ran 2 commands". */
export function callWords(calls: readonly ToolCallState[]): string {
  const counts = new Map<(count: number) => string, number>()
  for (const { toolName } of calls) {
    const { words } = kinds.find(({ names }) => names.test(toolName)) ?? { words: otherCalls }
    counts.set(words, (counts.get(words) ?? 0) + 1)
  }
  const text = [...counts].map(([words, count]) => words(count)).join(', ')
  return text.replace(/^./, (first) => first.toUpperCase()).replace(/^(\d+) other /, '$1 ')
}

const otherCalls = (count: number) => counted(count, 'other call')

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
