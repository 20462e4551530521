import { commandResult, terminalShown } from '@atrium/host/agents/command-result'
import type { Chat, Edit, AgentAction } from '@atrium/host/ports/agent'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallResult, ToolResultContent } from '@atrium/protocol/chat/tool'
import { limits } from '@atrium/protocol/limits'
import { compact } from '@atrium/protocol/update'
import type { FileEditCollection } from '@atrium/protocol/common/content'
import { clipped } from './text.ts'
import { quoted, textIn, tools } from './tools.ts'
import type { Input, ToolName } from './tools.ts'

/** More is no help to a model, and stands in the log for ever. */
const most = limits.modelResult

/** What acts need besides the chat. */
export interface Acting {
  readonly chat: Chat
  readonly toolCallId: string
  readonly input: Input
  /** Ends a line that does not end; gives its undo. */
  later(task: () => void): () => void
}

/** Does what a call is about, and says what became of it. It was approved, or needs nobody. */
export type Act = (acting: Acting) => AsyncIterable<AgentAction>

export const acts: { readonly [N in ToolName]: Act } = {
  async *read({ chat, toolCallId, input }) {
    const whole = await chat.files.read(toolCallId, textIn(input, 'path'))
    yield complete(toolCallId, `Read ${quoted(textIn(input, 'path'))}`, stretch(whole, input))
  },

  async *list({ chat, toolCallId, input }) {
    const entries = await chat.files.list(toolCallId, textIn(input, 'path'))
    const names = entries.map(({ name, type }) => (type === 'directory' ? `${name}/` : name))
    yield complete(
      toolCallId,
      tools.list.asks(input).replace('List', 'Listed'),
      names.join('\n') || '(empty)',
    )
  },

  async *search({ chat, toolCallId, input }) {
    const search = { text: textIn(input, 'text'), ...filled(input, ['path', 'glob', 'ignoreCase']) }
    const { lines, more } = await chat.files.search(toolCallId, search)
    const found = lines.map(({ path, line, text }) => `${path === '' ? '' : `${path}:`}${line}: ${text}`)
    const rest = more ? ['(There is more than is shown here: search for less.)'] : []
    const text = [...(found.length > 0 ? found : ['(nothing)']), ...rest].join('\n')
    yield complete(toolCallId, tools.search.asks(input).replace('Search', 'Searched'), text)
  },

  edit: (acting) => changed(acting, editOf('edit', acting.input)),
  write: (acting) => changed(acting, editOf('write', acting.input)),

  async *run({ chat, toolCallId, input, later }) {
    const { terminal, done, end } = await chat.run({ toolCallId, line: textIn(input, 'command') })
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [terminalShown(terminal)] }
    const undo = later(() => void end())
    try {
      const outcome = await done
      // The terminal has all of it.
      const output = outcome.output.slice(-most)
      const truncated = outcome.truncated || output.length < outcome.output.length
      const result = commandResult({ ...outcome, output, truncated }, terminal)
      yield { type: 'chat/toolCallComplete', toolCallId, result }
    } finally {
      undo()
    }
  },

  // The call is over before anybody is asked, so that a host that ends meanwhile finds nothing but a question, and asks on.
  async *ask({ toolCallId, input }) {
    yield complete(toolCallId, `Asked ${quoted(textIn(input, 'question'))}`, 'Asked.')
  },

  async *spawn({ chat, toolCallId, input }) {
    const title = quoted(textIn(input, 'title')).slice(1, -1)
    const model = chat.state.activeTurn?.usage?.model
    const task = {
      toolCallId,
      title,
      text: textIn(input, 'task'),
      ...(model !== undefined && { model: { id: model } }),
    }
    const worker = chat.spawn(task)
    // A turn that is over before the worker is may have nobody left to see that this is rejected.
    worker.done.catch(() => {})
    const shown = { type: 'subagent', resource: worker.chat, title } as const
    yield { type: 'chat/toolCallContentChanged', toolCallId, content: [shown] }
    const { text, problem } = answerOf(await worker.done)
    const did = `A worker ${problem === undefined ? 'did' : 'could not do'} ${quoted(title)}`
    yield complete(toolCallId, did, text, [shown], problem)
  },
}

/** What an edit would change, for those who are asked. */
export async function proposed(
  chat: Chat,
  name: string,
  input: Input,
): Promise<FileEditCollection | undefined> {
  if (name !== 'edit' && name !== 'write') return undefined
  return { items: [await chat.files.propose(textIn(input, 'path'), editOf(name, input))] }
}

export function failed(toolCallId: string, message: string): AgentAction {
  const result: ToolCallResult = { success: false, pastTenseMessage: message, error: { message } }
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

async function* changed({ chat, toolCallId, input }: Acting, edit: Edit): AsyncIterable<AgentAction> {
  const path = textIn(input, 'path')
  const shown = await chat.files.propose(path, edit)
  await chat.files.apply(toolCallId, path, edit)
  yield complete(toolCallId, `Wrote ${quoted(path)}`, `Wrote ${path}`, [{ type: 'fileEdit', ...shown }])
}

function editOf(name: 'edit' | 'write', input: Input): Edit {
  if (name === 'write') return { text: textIn(input, 'text') }
  return { find: textIn(input, 'find'), put: textIn(input, 'put') }
}

function complete(
  toolCallId: string,
  pastTenseMessage: string,
  text: string,
  beside: readonly ToolResultContent[] = [],
  problem?: string,
): AgentAction {
  const result = compact<ToolCallResult>({
    success: problem === undefined,
    pastTenseMessage: { markdown: pastTenseMessage },
    content: [...beside, { type: 'text', text: clipped(text, most) }],
    error: problem === undefined ? undefined : { message: problem },
  })
  return { type: 'chat/toolCallComplete', toolCallId, result }
}

/** The lines that were asked for, and no more than is good. */
function stretch(whole: string, { from, lines }: Input): string {
  const first = typeof from === 'number' ? Math.max(1, from) : 1
  const count = typeof lines === 'number' ? Math.max(1, lines) : Infinity
  const asked =
    first === 1 && count === Infinity
      ? whole
      : whole
          .split('\n')
          .slice(first - 1, first - 1 + count)
          .join('\n')
  if (asked.length <= most) return asked === '' ? '(empty)' : asked
  const note = (line: number) => `\n(There is more: read on from line ${line}.)`
  const room = most - note(Number.MAX_SAFE_INTEGER).length
  const shown = asked.slice(0, asked.lastIndexOf('\n', room) + 1 || room)
  return shown + note(first + shown.split('\n').length - 1)
}

/** What a worker has to say. */
function answerOf({ turns }: ChatState): { readonly text: string; readonly problem?: string } {
  const turn = turns.at(-1)
  const text = (turn?.responseParts ?? [])
    .map((part) => (part.kind === 'markdown' ? part.content : ''))
    .join('')
    .slice(-most)
  if (turn?.state === 'complete') return { text: text === '' ? '(It said nothing.)' : text }
  const last = turn?.responseParts.at(-1)
  const problem = last?.kind === 'error' ? last.error.message : 'it was ended'
  return { text: `${text}\n(The worker did not come to its end: ${problem})`, problem }
}

function filled(input: Input, names: readonly string[]): Input {
  return Object.fromEntries(
    names.flatMap((name) => (input[name] === undefined || input[name] === null ? [] : [[name, input[name]]])),
  )
}
