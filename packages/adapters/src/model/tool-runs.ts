import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import { TurnFailed } from '@atrium/host/ports/agent'
import type { AgentAction, Chat, CommandOutcome, Edit } from '@atrium/host/ports/agent'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/chat/tool'
import { limits } from '@atrium/protocol/limits'
import { compact } from '@atrium/protocol/update'
import { messageOf } from '@atrium/protocol/common/content'
import type { FileEditCollection } from '@atrium/protocol/common/content'
import { skillText } from '../customization/paragraphs.ts'
import { truncateMiddle } from './text.ts'
import { quoted, textField, tools } from './tools.ts'
import type { Input, ToolName } from './tools.ts'

/**
 * The maximum number of characters of a result. A longer result does not help the model, and the log would keep it forever.
 */
const maxLength = limits.modelResult

/** One run of a tool call. The tool has accepted the input. */
export interface ToolRun {
  readonly chat: Chat
  readonly toolCallId: string
  readonly input: Input
  /** Schedules a task after the maximum duration of a command. Returns a function that cancels the task. */
  later(task: () => void): () => void
}

/** Runs a call and yields its result. The call must be approved, or need no approval. */
export type RunTool = (run: ToolRun) => AsyncIterable<AgentAction>

export const toolRuns: { readonly [N in ToolName]: RunTool } = {
  async *read({ chat, toolCallId, input }) {
    const path = textField(input, 'path')
    const text = requestedLines(await chat.files.read(toolCallId, path), input)
    yield complete({ toolCallId, pastTense: `Read ${quoted(path)}`, text })
  },

  async *list({ chat, toolCallId, input }) {
    const entries = await chat.files.list(toolCallId, textField(input, 'path'))
    const names = entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name))
    const pastTense = tools.list.invocationMessage(input).replace('List', 'Listed')
    yield complete({ toolCallId, pastTense, text: names.join('\n') || '(empty)' })
  },

  async *search({ chat, toolCallId, input }) {
    // Some models fill the field that they do not need with an empty text. An empty field counts as absent.
    const wanted = ['text', 'pattern'].filter((name) => input[name] !== '')
    const search = presentFields(input, [...wanted, 'path', 'glob', 'ignoreCase'])
    const { lines, more } = await chat.files.search(toolCallId, search)
    const found = lines.map(({ path, line, text }) => `${path === '' ? '' : `${path}:`}${line}: ${text}`)
    const rest = more ? ['(There is more than is shown here: search for less.)'] : []
    const text = [...(found.length > 0 ? found : ['(nothing)']), ...rest].join('\n')
    const pastTense = tools.search.invocationMessage(input).replace('Search', 'Searched')
    yield complete({ toolCallId, pastTense, text })
  },

  async *skill({ chat, toolCallId, input }) {
    const name = textField(input, 'name')
    const { skills } = await chat.customized()
    const skill = skills.find((each) => each.name === name)
    if (!skill) throw new TurnFailed('tool', `there is no skill ${quoted(name)}`)
    yield complete({ toolCallId, pastTense: `Read the skill ${quoted(name)}`, text: skillText(skill) })
  },

  async *comments({ chat, toolCallId, input }) {
    const path = textField(input, 'path') || undefined
    const all = await chat.comments.list(path)
    const listed = all.filter(({ resolved }) => input['all'] === true || !resolved)
    const text = listed.map((comment) => comment.text).join('\n\n') || '(none)'
    yield complete({ toolCallId, pastTense: tools.comments.invocationMessage(input), text })
  },

  async *comment({ chat, toolCallId, input }) {
    const [path, text] = [textField(input, 'path'), textField(input, 'text')]
    const id = await chat.comments.add({ path, text, ...presentFields(input, ['line', 'lastLine']) })
    yield complete({
      toolCallId,
      pastTense: `Commented on ${quoted(path)}`,
      text: `The comment has the id ${id}.`,
    })
  },

  async *reply({ chat, toolCallId, input }) {
    const id = textField(input, 'id')
    await chat.comments.reply(id, textField(input, 'text'))
    if (input['resolve'] === true) await chat.comments.resolve(id, true)
    yield complete({ toolCallId, pastTense: `Answered the comment ${quoted(id)}`, text: 'Answered.' })
  },

  edit: (run) => applyEdit(run, editOf('edit', run.input)),
  write: (run) => applyEdit(run, editOf('write', run.input)),

  async *run({ chat, toolCallId, input, later }) {
    const { terminal, done, end } = await chat.run({ toolCallId, line: textField(input, 'command') })
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
    const cancelTimeout = later(() => void end())
    try {
      yield commandEnded(toolCallId, await done, terminal)
    } finally {
      cancelTimeout()
    }
  },

  async *leave({ chat, toolCallId, input }) {
    const { terminal, leave } = await chat.run({ toolCallId, line: textField(input, 'command') })
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
    yield commandEnded(toolCallId, await leave(), terminal)
  },

  // The call ends before the question is shown. If the host stops while the question is open, only the question is left,
  // which the next host can continue.
  async *ask({ toolCallId, input }) {
    const pastTense = `Asked ${quoted(textField(input, 'question'))}`
    yield complete({ toolCallId, pastTense, text: 'Asked.' })
  },

  async *spawn({ chat, toolCallId, input }) {
    const title = quoted(textField(input, 'title')).slice(1, -1)
    const model = chat.state.activeTurn?.usage?.model
    const task = {
      toolCallId,
      title,
      text: textField(input, 'task'),
      ...(model !== undefined && { model: { id: model } }),
    }
    const worker = chat.spawn(task)
    // If the turn ends before the worker, nothing awaits this promise; its rejection must not be reported as unhandled.
    worker.done.catch(() => {})
    const shown = { type: 'subagent', resource: worker.chat, title } as const
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [shown] }
    const { text, problem } = workerAnswer(await worker.done)
    const pastTense = `A worker ${problem === undefined ? 'did' : 'could not do'} ${quoted(title)}`
    yield complete({ toolCallId, pastTense, text, content: [shown], problem })
  },
}

/** Returns the result of a tool call that ran a command. The model gets the last part of the output; the terminal keeps all of it. */
function commandEnded(toolCallId: string, outcome: CommandOutcome, terminal: string): AgentAction {
  const output = outcome.output.slice(-maxLength)
  const truncated = outcome.truncated || output.length < outcome.output.length
  const result = commandResult({ ...outcome, output, truncated }, terminal)
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

/** Returns the changes of an edit. They are shown with the request for approval. */
export async function proposedEdits(
  chat: Chat,
  name: string,
  input: Input,
): Promise<FileEditCollection | undefined> {
  if (name !== 'edit' && name !== 'write') return undefined
  return { items: [await chat.files.propose(textField(input, 'path'), editOf(name, input))] }
}

export function failed(toolCallId: string, message: string): AgentAction {
  const result: ToolCallResult = { success: false, pastTenseMessage: messageOf(message), error: { message } }
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

async function* applyEdit({ chat, toolCallId, input }: ToolRun, edit: Edit): AsyncIterable<AgentAction> {
  const path = textField(input, 'path')
  const shown = await chat.files.propose(path, edit)
  await chat.files.writesOnly(toolCallId, [path])
  await chat.files.apply(toolCallId, path, edit)
  const content = [{ type: 'fileEdit', ...shown } as const]
  yield complete({ toolCallId, pastTense: `Wrote ${quoted(path)}`, text: `Wrote ${path}`, content })
}

function editOf(name: 'edit' | 'write', input: Input): Edit {
  if (name === 'write') return { text: textField(input, 'text') }
  return { find: textField(input, 'find'), put: textField(input, 'put') }
}

interface Outcome {
  readonly toolCallId: string
  readonly pastTense: string
  readonly text: string
  /** Content that is shown before the text. */
  readonly content?: readonly ToolResultContent[]
  /** The error message of a call that failed. */
  readonly problem?: string | undefined
}

function complete({ toolCallId, pastTense, text, content = [], problem }: Outcome): AgentAction {
  const result = compact<ToolCallResult>({
    success: problem === undefined,
    pastTenseMessage: { markdown: pastTense },
    content: [...content, { type: 'text', text: truncateMiddle(text, maxLength) }],
    error: problem === undefined ? undefined : { message: problem },
  })
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

/**
 * Returns the requested lines. More than `maxLength` characters are cut at a line end, and a note tells at which line to
 * continue.
 */
function requestedLines(whole: string, { from, lines }: Input): string {
  const first = typeof from === 'number' ? Math.max(1, from) : 1
  const count = typeof lines === 'number' ? Math.max(1, lines) : Infinity
  const requested =
    first === 1 && count === Infinity
      ? whole
      : whole
          .split('\n')
          .slice(first - 1, first - 1 + count)
          .join('\n')
  if (requested.length <= maxLength) return requested === '' ? '(empty)' : requested
  const note = (line: number) => `\n(There is more: read on from line ${line}.)`
  const room = maxLength - note(Number.MAX_SAFE_INTEGER).length
  const shown = requested.slice(0, requested.lastIndexOf('\n', room) + 1 || room)
  return shown + note(first + shown.split('\n').length - 1)
}

/** Returns the text of a worker's last turn, and the error if the turn failed. */
function workerAnswer({ turns }: ChatState): { readonly text: string; readonly problem?: string } {
  const turn = turns.at(-1)
  const text = (turn?.responseParts ?? [])
    .map((part) => (part.kind === 'markdown' ? part.content : ''))
    .join('')
    .slice(-maxLength)
  if (turn?.state === 'complete') return { text: text === '' ? '(It said nothing.)' : text }
  const last = turn?.responseParts.at(-1)
  const problem = last?.kind === 'error' ? last.error.message : 'it was ended'
  return { text: `${text}\n(The worker did not come to its end: ${problem})`, problem }
}

function presentFields(input: Input, names: readonly string[]): Input {
  return Object.fromEntries(
    names.flatMap((name) => (input[name] === undefined || input[name] === null ? [] : [[name, input[name]]])),
  )
}
