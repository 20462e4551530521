import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, Edit, AgentAction } from '@atrium/host/ports/agent'
import type { ToolCallPart } from '@atrium/protocol/chat/state'
import type { ToolCallResult } from '@atrium/protocol/chat/tool'
import type { FileEditCollection } from '@atrium/protocol/common/content'
import type { ToolName, ToolStep } from './script.ts'
import { quoted } from './words.ts'
import { callIn } from '@atrium/protocol/chat/calls'

interface Tool {
  readonly displayName: string
  /** What it is about to do, for those who are asked. */
  asks(input: string): string
  /** Whoever approves may change the input first. */
  readonly editable?: boolean
  edits?(chat: Chat, input: string): Promise<FileEditCollection>
  act(chat: Chat, toolCallId: string, input: string): AsyncIterable<AgentAction>
}

/** Asks, waits for as long as it takes, and does it; or goes on with a call that asks already. */
export async function* useTool(
  { tool: name, input }: ToolStep,
  chat: Chat,
  at: ToolCallPart | string,
): AsyncIterable<AgentAction> {
  const tool = tools[name]
  const toolCallId = typeof at === 'string' ? at : at.toolCall.toolCallId
  if (typeof at === 'string') {
    const what = tool.asks(input)
    yield {
      type: 'chat/toolCallStart',
      toolCallId,
      toolName: name,
      displayName: tool.displayName,
      intention: what,
    }
    const edits = await attempt(async () => tool.edits?.(chat, input))
    if (edits instanceof TurnFailed) return yield* impossible(toolCallId, what, edits)
    yield {
      type: 'chat/toolCallReady',
      toolCallId,
      invocationMessage: what,
      toolInput: input,
      ...(tool.editable && { editable: true }),
      ...(edits && { edits }),
    }
  }
  const decided = await chat.when((state) => !undecided.has(callIn(state, toolCallId)?.status ?? 'streaming'))
  const call = callIn(decided, toolCallId)
  // Else somebody said no.
  if (call?.status !== 'running') return
  const agreed = typeof call.toolInput === 'string' ? call.toolInput : input
  try {
    yield* tool.act(chat, toolCallId, agreed)
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    yield failed(toolCallId, error)
  }
}

const tools: { readonly [N in ToolName]: Tool } = {
  run: {
    displayName: 'Run',
    asks: (line) => `Run ${quoted(line)}`,
    editable: true,
    async *act(chat, toolCallId, line) {
      const { terminal, done } = await chat.run({ toolCallId, line })
      yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
      yield complete(toolCallId, commandResult(await done, terminal))
    },
  },

  read: {
    displayName: 'Read',
    asks: (path) => `Read ${quoted(path)}`,
    async *act(chat, toolCallId, path) {
      const text = await chat.files.read(toolCallId, path)
      const content = [{ type: 'text', text } as const]
      yield complete(toolCallId, { success: true, pastTenseMessage: `Read ${quoted(path)}`, content })
    },
  },

  write: {
    displayName: 'Write',
    asks: (input) => `Write ${quoted(partsOf(input)[0])}`,
    edits: (chat, input) => proposed(chat, partsOf(input)[0], { text: partsOf(input)[1] }),
    act: (chat, toolCallId, input) =>
      changed(chat, toolCallId, partsOf(input)[0], { text: partsOf(input)[1] }),
  },

  edit: {
    displayName: 'Edit',
    asks: (input) => `Edit ${quoted(partsOf(input)[0])}`,
    edits: (chat, input) => proposed(chat, partsOf(input)[0], replacement(input)),
    act: (chat, toolCallId, input) => changed(chat, toolCallId, partsOf(input)[0], replacement(input)),
  },
}

/** A path and what stands behind it. */
export function partsOf(input: string): readonly [path: string, rest: string] {
  const [, path = '', rest = ''] = /^(\S+)\s?([\s\S]*)$/.exec(input) ?? []
  return [path, rest]
}

export const arrow = ' => '

function replacement(input: string): Edit {
  const [find = '', put = ''] = partsOf(input)[1].split(arrow, 2)
  return { find, put }
}

async function proposed(chat: Chat, path: string, edit: Edit): Promise<FileEditCollection> {
  return { items: [await chat.files.propose(path, edit)] }
}

async function* changed(
  chat: Chat,
  toolCallId: string,
  path: string,
  edit: Edit,
): AsyncIterable<AgentAction> {
  await chat.files.apply(toolCallId, path, edit)
  yield complete(toolCallId, { success: true, pastTenseMessage: `Wrote ${quoted(path)}` })
}

function complete(toolCallId: string, result: ToolCallResult): AgentAction {
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

function failed(toolCallId: string, { message }: TurnFailed): AgentAction {
  return complete(toolCallId, { success: false, pastTenseMessage: message, error: { message } })
}

/** Nobody is asked for what cannot be done. */
function* impossible(toolCallId: string, what: string, problem: TurnFailed): Iterable<AgentAction> {
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage: what, confirmed: 'not-needed' }
  yield failed(toolCallId, problem)
}

async function attempt<T>(task: () => Promise<T>): Promise<T | TurnFailed> {
  try {
    return await task()
  } catch (error) {
    if (error instanceof TurnFailed) return error
    throw error
  }
}

/** It has not asked yet, or nobody has answered. */
const undecided = new Set(['streaming', 'pending-confirmation'])
