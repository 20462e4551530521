import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type {
  ActiveTurn,
  ChatState,
  InputRequestPart,
  ResponsePart,
  ToolCallPart,
} from '@atrium/protocol/chat/state'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { fillIn } from './form.ts'
import { login } from './login.ts'
import { isText, saidOf, textOf } from './script.ts'
import type { CallStep, Script, Step, TextPart, TextStep } from './script.ts'
import { useTool } from './tools.ts'
import { quoted, wordCount } from './words.ts'

export type Pause = (ms: number) => Promise<void>

/** After so many words without a pause everybody else has a turn: nobody could cancel otherwise. */
const breath = 256

/** Says what the turn does not have yet of a script. */
export async function* play(
  script: Script,
  chat: Chat,
  turn: ActiveTurn,
  pause: Pause,
): AsyncIterable<AgentAction> {
  const had = saidOf(script, turn)
  const failed = turn.responseParts.some((part) => part.kind === 'error' && part.error.errorType === 'guide')
  let { activity } = chat.state
  let taken = 0
  let parts = turn.responseParts.length
  // The position in the turn, errors and all, so that no part is ever called like another.
  const newId = () => `${turn.id}-${++parts}`
  for (const step of script) {
    if (step.kind === 'fail') {
      if (!failed) throw step.error
      continue
    }
    const part = had[taken++]
    if (part && isOver(part, step, turn)) continue
    const wished = 'activity' in step ? step.activity : undefined
    if (wished !== activity) yield activityChanged((activity = wished))
    if ('login' in step) yield* login(chat, turn, newId)
    else if (step.kind === 'toolCall' && 'tool' in step) yield* useTool(step, chat, begun(part) ?? newId())
    else if (step.kind === 'toolCall') yield* call(step, newId(), chat)
    else if (step.kind === 'inputRequest') yield* fillIn(step, chat, asked(part) ?? newId())
    else if (step.kind !== 'systemNotification') yield* text(step, written(part) ?? newId(), chat, pause)
    else {
      parts++
      yield { type: 'chat/responsePart', part: { kind: step.kind, content: step.text } }
    }
  }
  if (activity !== undefined) yield activityChanged(undefined)
  if (!turn.usage) yield usage(script, chat.state.activeTurn ?? turn)
}

/** A part is made empty and then grows; one that is there grows from where it stopped. */
async function* text(
  step: TextStep,
  where: TextPart | string,
  chat: Chat,
  pause: Pause,
): AsyncIterable<AgentAction> {
  const { kind } = step
  const begun = typeof where === 'string' ? { kind, id: where, content: '' } : where
  if (begun !== where) yield { type: 'chat/responsePart', part: begun }
  const type = kind === 'markdown' ? 'chat/delta' : 'chat/reasoning'
  let count = 0
  const { activeTurn } = chat.state
  const whole = activeTurn ? textOf(step, activeTurn) : ''
  for (const content of pieces(whole.slice(begun.content.length))) {
    if (step.ms > 0 || ++count % breath === 0) await pause(step.ms)
    yield { type, partId: begun.id, content }
  }
}

/** Word by word; in larger pieces where the text is so long that there would be a million of them. */
function* pieces(whole: string): Iterable<string> {
  const least = 1 + Math.floor(whole.length / 1_000_000)
  for (const [piece] of whole.matchAll(new RegExp(`.{1,${least}}\\S{0,200}\\s{0,200}`, 'gsu'))) yield piece
}

async function* call({ text: task }: CallStep, toolCallId: string, chat: Chat): AsyncIterable<AgentAction> {
  const doing = { toolName: 'spawn', displayName: 'Worker' }
  yield { type: 'chat/toolCallStart', toolCallId, ...doing, intention: 'Let a worker do it' }
  const invocationMessage = { markdown: `A worker does ${quoted(task)}` }
  const confirmed = { toolInput: task, confirmed: 'not-needed' }
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, ...confirmed }
  const title = quoted(task).slice(1, -1)
  const worker = chat.spawn({ toolCallId, title, text: task })
  // A turn that is over before the worker is may have nobody left to see that this is rejected.
  worker.done.catch(() => {})
  const content: ToolResultContent[] = [{ type: 'subagent', resource: worker.chat, title }]
  yield { type: 'chat/toolCallContentChanged', toolCallId, content }
  const success = succeeded(await worker.done)
  const pastTenseMessage = { markdown: `A worker ${success ? 'did' : 'could not do'} ${quoted(task)}` }
  yield { type: 'chat/toolCallComplete', toolCallId, result: { success, pastTenseMessage, content } }
}

/** Whether a turn has all of a step. */
function isOver(part: ResponsePart, step: Step, turn: ActiveTurn): boolean {
  if (isText(part)) return part.content === textOf(step, turn)
  if (part.kind === 'inputRequest') return part.response !== undefined
  return part.kind !== 'toolCall' || ['completed', 'cancelled'].includes(part.toolCall.status)
}

function begun(part: ResponsePart | undefined): ToolCallPart | undefined {
  return part?.kind === 'toolCall' ? part : undefined
}

function written(part: ResponsePart | undefined): TextPart | undefined {
  return part && isText(part) ? part : undefined
}

function asked(part: ResponsePart | undefined): InputRequestPart | undefined {
  return part?.kind === 'inputRequest' ? part : undefined
}

function succeeded(state: ChatState): boolean {
  return state.turns.at(-1)?.state === 'complete'
}

function activityChanged(activity: string | undefined): AgentAction {
  return { type: 'chat/activityChanged', ...(activity !== undefined && { activity }) }
}

/** Counted in the script, so that a turn that was broken off costs what it costs in one go. */
function usage(script: Script, turn: ActiveTurn): AgentAction {
  const { message } = turn
  const said = script.map((step) => wordCount(textOf(step, turn)))
  const outputTokens = said.reduce((sum, count) => sum + count, 0)
  const model = message.model?.id ?? 'guide-plain'
  return { type: 'chat/usage', usage: { inputTokens: wordCount(message.text), outputTokens, model } }
}
