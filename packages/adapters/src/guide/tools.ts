import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { Chat, Edit, AgentAction } from '@atrium/host/ports/agent'
import type { ActiveTurn, ToolCallPart } from '@atrium/protocol/chat/state'
import type { ToolCallResult } from '@atrium/protocol/chat/tool'
import { messageOf } from '@atrium/protocol/common/content'
import type { FileEditCollection, StringOrMarkdown } from '@atrium/protocol/common/content'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import type { ToolName, ToolStep } from './script.ts'
import { loremText, quoted, verbUsage } from './words.ts'
import { callIn, callsOf } from '@atrium/protocol/chat/calls'

interface Tool {
  readonly displayName: string
  /** Returns the part of the input that the description of a call contains. */
  target?(input: string): string
  /** Set for a tool whose calls run without approval. */
  readonly noApproval?: true
  /** Whether the user may change the input while approving. */
  readonly editable?: boolean
  /** Returns the file changes to show with the request for approval. */
  proposedEdits?(chat: Chat, input: string): Promise<FileEditCollection>
  run(chat: Chat, toolCallId: string, input: string): AsyncIterable<AgentAction>
}

/**
 * Asks for approval, waits for the decision and runs the tool. `target` is the id for a new call, or the open call of a
 * resumed turn.
 */
export async function* useTool(
  { tool: name, input }: ToolStep,
  chat: Chat,
  target: ToolCallPart | string,
): AsyncIterable<AgentAction> {
  const tool = tools[name]
  const toolCallId = typeof target === 'string' ? target : target.toolCall.toolCallId
  if (typeof target === 'string') {
    const target = quoted(tool.target?.(input) ?? input)
    const description = { markdown: `${tool.displayName} ${target}` }
    yield {
      type: 'chat/toolCallStart',
      toolCallId,
      toolName: name,
      displayName: tool.displayName,
      intention: `${tool.displayName} ${target.slice(1, -1)}`,
    }
    const edits = await attempt(async () => tool.proposedEdits?.(chat, input))
    if (edits instanceof TurnFailed) return yield* failWithoutAsking(toolCallId, description, edits)
    yield {
      type: 'chat/toolCallReady',
      toolCallId,
      invocationMessage: description,
      toolInput: input,
      ...(tool.noApproval && { confirmed: 'not-needed' }),
      ...(tool.editable && { editable: true }),
      ...(edits && { edits }),
    }
  }
  const decided = await chat.when((state) => !undecided.has(callIn(state, toolCallId)?.status ?? 'streaming'))
  const call = callIn(decided, toolCallId)
  // A denial has already ended the call.
  if (call?.status !== 'running') return
  const approved = typeof call.toolInput === 'string' ? call.toolInput : input
  try {
    yield* tool.run(chat, toolCallId, approved)
  } catch (error) {
    if (!(error instanceof TurnFailed)) throw error
    yield failed(toolCallId, error)
  }
}

const tools: { readonly [N in ToolName]: Tool } = {
  run: {
    displayName: 'Run',
    editable: true,
    async *run(chat, toolCallId, line) {
      const { terminal, done } = await chat.run({ toolCallId, line })
      yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
      yield complete(toolCallId, commandResult(await done, terminal))
    },
  },

  leave: {
    displayName: 'Leave running',
    editable: true,
    async *run(chat, toolCallId, line) {
      const { terminal, leave } = await chat.run({ toolCallId, line })
      yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
      yield complete(toolCallId, commandResult(await leave(), terminal))
    },
  },

  read: {
    displayName: 'Read',
    async *run(chat, toolCallId, path) {
      const text = await chat.files.read(toolCallId, path)
      const content = [{ type: 'text', text } as const]
      yield complete(toolCallId, {
        success: true,
        pastTenseMessage: messageOf(`Read ${quoted(path)}`),
        content,
      })
    },
  },

  write: {
    displayName: 'Write',
    target: (input) => pathAndRest(input)[0],
    proposedEdits: (chat, input) => proposed(chat, pathAndRest(input)[0], { text: pathAndRest(input)[1] }),
    run: (chat, toolCallId, input) =>
      applyEdit(chat, toolCallId, pathAndRest(input)[0], { text: pathAndRest(input)[1] }),
  },

  edit: {
    displayName: 'Edit',
    target: (input) => pathAndRest(input)[0],
    proposedEdits: (chat, input) => proposed(chat, pathAndRest(input)[0], replacement(input)),
    run: (chat, toolCallId, input) => applyEdit(chat, toolCallId, pathAndRest(input)[0], replacement(input)),
  },

  comment: {
    displayName: 'Comment',
    target: (input) => pathAndRest(input)[0],
    noApproval: true,
    async *run(chat, toolCallId, input) {
      const [place, text] = pathAndRest(input)
      const [, path = place, line] = /^(.+):(\d{1,9})$/.exec(place) ?? []
      const id = await chat.comments.add({ path, text, ...(line !== undefined && { line: Number(line) }) })
      yield complete(toolCallId, said(`Commented on ${quoted(place)}`, `The id of the comment is ${id}.`))
    },
  },

  reply: {
    displayName: 'Reply',
    target: (input) => pathAndRest(input)[0],
    noApproval: true,
    async *run(chat, toolCallId, input) {
      const [id, text] = pathAndRest(input)
      await chat.comments.reply(id, text)
      yield complete(toolCallId, said(`Answered the comment ${quoted(id)}`, text))
    },
  },

  comments: {
    displayName: 'Comments',
    target: () => 'of this session',
    noApproval: true,
    async *run(chat, toolCallId) {
      const texts = (await chat.comments.list()).map(({ text }) => text)
      yield complete(toolCallId, said('Read the comments', texts.join('\n\n') || 'There are no comments.'))
    },
  },

  review: {
    displayName: 'Find words',
    target: (input) => `${input} words`,
    noApproval: true,
    async *run(chat, toolCallId, input) {
      const content = [{ type: 'text', text: loremText(Number(input)) } as const]
      const pastTenseMessage = messageOf(`Found ${input} words`)
      const result: ToolCallResult = { success: true, pastTenseMessage, content }
      yield { type: 'chat/toolCallComplete', toolCallId, result, requiresResultConfirmation: true }
      await chat.when((state) => over.has(callIn(state, toolCallId)?.status ?? 'running'))
    },
  },
}

/** The titles of the tools. The name of a tool is the verb with which a user asks the guide to use it. */
const titles: ReadonlyMap<string, string> = new Map([
  ...Object.entries<Tool>(tools).map(([name, { displayName }]) => [name, displayName] as const),
  ['spawn', 'Worker'],
  ['login', 'Sign in'],
])

/** The tools as the state of a session shows them. */
export const toolDefinitions: readonly ToolDefinition[] = Object.entries(verbUsage).flatMap(
  ([name, [, description]]) => {
    const title = titles.get(name)
    return title === undefined ? [] : [{ name, title, description }]
  },
)

/** Returns the text that the guide says after a reviewed result. It is empty until a user has decided. */
export function reviewedText({ responseParts }: ActiveTurn): string {
  const call = callsOf(responseParts).findLast(({ toolName }) => toolName === 'review')
  if (call?.status === 'completed')
    return `You approved the result, so I use it: ${loremText(Number(call.toolInput))}`
  const denied = call?.status === 'cancelled' && call.reason === 'result-denied'
  return denied ? 'You did not approve the result, so I do not use it.' : ''
}

/** Splits an input into a path, which is its first word, and the rest. */
export function pathAndRest(input: string): readonly [path: string, rest: string] {
  const [, path = '', rest = ''] = /^(\S+)\s?([\s\S]*)$/.exec(input) ?? []
  return [path, rest]
}

export const arrow = ' => '

function replacement(input: string): Edit {
  const [find = '', put = ''] = pathAndRest(input)[1].split(arrow, 2)
  return { find, put }
}

async function proposed(chat: Chat, path: string, edit: Edit): Promise<FileEditCollection> {
  return { items: [await chat.files.propose(path, edit)] }
}

async function* applyEdit(
  chat: Chat,
  toolCallId: string,
  path: string,
  edit: Edit,
): AsyncIterable<AgentAction> {
  // The preview is made before the edit, because afterwards the old content is gone.
  const shown = await chat.files.propose(path, edit)
  await chat.files.writesOnly(toolCallId, [path])
  await chat.files.apply(toolCallId, path, edit)
  const content = [{ type: 'fileEdit', ...shown } as const]
  yield complete(toolCallId, { success: true, pastTenseMessage: messageOf(`Wrote ${quoted(path)}`), content })
}

function said(pastTense: string, text: string): ToolCallResult {
  return { success: true, pastTenseMessage: messageOf(pastTense), content: [{ type: 'text', text }] }
}

function complete(toolCallId: string, result: ToolCallResult): AgentAction {
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

function failed(toolCallId: string, { message }: TurnFailed): AgentAction {
  return complete(toolCallId, { success: false, pastTenseMessage: messageOf(message), error: { message } })
}

/** Ends a call that cannot run. No user is asked for approval. */
function* failWithoutAsking(
  toolCallId: string,
  description: StringOrMarkdown,
  problem: TurnFailed,
): Iterable<AgentAction> {
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage: description, confirmed: 'not-needed' }
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

/** Statuses of a call before the user's decision. */
const undecided = new Set(['streaming', 'pending-confirmation'])

/** Statuses of a call after all decisions. */
const over = new Set(['completed', 'cancelled'])
