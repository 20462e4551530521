import type { Chat, AgentAction } from '@atrium/host/ports/agent'
import type {
  ActiveTurn,
  ChatState,
  InputRequestPart,
  ResponsePart,
  ToolCallPart,
} from '@atrium/protocol/chat/state'
import type { ToolResultContent } from '@atrium/protocol/chat/tool'
import { askForm } from './form.ts'
import { login } from './login.ts'
import { callOffered } from './offered.ts'
import { isText, playedParts, textOf } from './script.ts'
import type { WorkerStep, Script, Step, TextPart, TextStep } from './script.ts'
import { useTool } from './tools.ts'
import { quoted, wordCount } from './words.ts'

export type Pause = (ms: number) => Promise<void>

/**
 * The number of words after which the player yields to the event loop, if the words have no delay. Without this pause a turn
 * could not be cancelled.
 */
const wordsPerPause = 256

/** Plays the steps of a script that the turn does not contain yet. */
export async function* play(
  script: Script,
  chat: Chat,
  turn: ActiveTurn,
  pause: Pause,
): AsyncIterable<AgentAction> {
  const played = playedParts(script, turn)
  const failed = turn.responseParts.some((part) => part.kind === 'error' && part.error.errorType === 'guide')
  let { activity } = chat.state
  let index = 0
  let partCount = turn.responseParts.length
  // The number is the position of the part in the turn. Errors are counted too, so each id is unique.
  const newId = () => `${turn.id}-${++partCount}`
  for (const step of script) {
    if (step.kind === 'fail') {
      if (!failed) throw step.error
      continue
    }
    const part = played[index++]
    if (part && isOver(part, step, turn)) continue
    const next = 'activity' in step ? step.activity : undefined
    if (next !== activity) yield activityChanged((activity = next))
    if ('login' in step) yield* login(chat, turn, newId)
    else if (step.kind === 'toolCall' && 'tool' in step) yield* useTool(step, chat, callPart(part) ?? newId())
    else if (step.kind === 'toolCall' && 'offered' in step)
      yield* callOffered(step, chat, callPart(part) ?? newId())
    else if (step.kind === 'toolCall') yield* runWorker(step, newId(), chat)
    else if (step.kind === 'inputRequest') yield* askForm(step, chat, formPart(part) ?? newId())
    else if (step.kind !== 'systemNotification')
      yield* streamText(step, textPart(part) ?? newId(), chat, pause)
    else {
      partCount++
      yield { type: 'chat/responsePart', part: { kind: step.kind, content: step.text } }
    }
  }
  if (activity !== undefined) yield activityChanged(undefined)
  if (!turn.usage) yield usage(script, chat.state.activeTurn ?? turn)
}

/** Streams a text word by word. `target` is the id for a new part, or the interrupted part of a resumed turn. */
async function* streamText(
  step: TextStep,
  target: TextPart | string,
  chat: Chat,
  pause: Pause,
): AsyncIterable<AgentAction> {
  const { kind } = step
  const part = typeof target === 'string' ? { kind, id: target, content: '' } : target
  if (part !== target) yield { type: 'chat/responsePart', part }
  const type = kind === 'markdown' ? 'chat/delta' : 'chat/reasoning'
  let count = 0
  const { activeTurn } = chat.state
  const whole = activeTurn ? textOf(step, activeTurn) : ''
  for (const content of pieces(whole.slice(part.content.length))) {
    if (step.ms > 0 || ++count % wordsPerPause === 0) await pause(step.ms)
    yield { type, partId: part.id, content }
  }
}

/** Splits a text into words. A text of over a million characters is split into larger pieces. */
function* pieces(whole: string): Iterable<string> {
  const minLength = 1 + Math.floor(whole.length / 1_000_000)
  for (const [piece] of whole.matchAll(new RegExp(`.{1,${minLength}}\\S{0,200}\\s{0,200}`, 'gsu')))
    yield piece
}

async function* runWorker(
  { text: task }: WorkerStep,
  toolCallId: string,
  chat: Chat,
): AsyncIterable<AgentAction> {
  const tool = { toolName: 'spawn', displayName: 'Worker' }
  yield { type: 'chat/toolCallStart', toolCallId, ...tool, intention: 'Let a worker do it' }
  const invocationMessage = { markdown: `A worker does ${quoted(task)}` }
  const confirmed = { toolInput: task, confirmed: 'not-needed' }
  yield { type: 'chat/toolCallReady', toolCallId, invocationMessage, ...confirmed }
  const title = quoted(task).slice(1, -1)
  const worker = chat.spawn({ toolCallId, title, text: task })
  // If the turn ends before the worker, nothing awaits this promise; its rejection must not be reported as unhandled.
  worker.done.catch(() => {})
  const content: ToolResultContent[] = [{ type: 'subagent', resource: worker.chat, title }]
  yield { type: 'chat/toolCallContentChanged', toolCallId, content }
  const success = succeeded(await worker.done)
  const pastTenseMessage = { markdown: `A worker ${success ? 'did' : 'could not do'} ${quoted(task)}` }
  yield { type: 'chat/toolCallComplete', toolCallId, result: { success, pastTenseMessage, content } }
}

/** Whether a part is complete, so that its step need not be played again. */
function isOver(part: ResponsePart, step: Step, turn: ActiveTurn): boolean {
  if (isText(part)) return part.content === textOf(step, turn)
  if (part.kind === 'inputRequest') return part.response !== undefined
  return part.kind !== 'toolCall' || ['completed', 'cancelled'].includes(part.toolCall.status)
}

function callPart(part: ResponsePart | undefined): ToolCallPart | undefined {
  return part?.kind === 'toolCall' ? part : undefined
}

function textPart(part: ResponsePart | undefined): TextPart | undefined {
  return part && isText(part) ? part : undefined
}

function formPart(part: ResponsePart | undefined): InputRequestPart | undefined {
  return part?.kind === 'inputRequest' ? part : undefined
}

function succeeded(state: ChatState): boolean {
  return state.turns.at(-1)?.state === 'complete'
}

function activityChanged(activity: string | undefined): AgentAction {
  return { type: 'chat/activityChanged', ...(activity !== undefined && { activity }) }
}

/**
 * Returns the usage of the turn. The words of the script are counted and not those of the parts, so that an interrupted turn
 * has the same usage as an uninterrupted one.
 */
function usage(script: Script, turn: ActiveTurn): AgentAction {
  const { message } = turn
  const counts = script.map((step) => wordCount(textOf(step, turn)))
  const outputTokens = counts.reduce((sum, count) => sum + count, 0)
  const model = message.model?.id ?? 'guide-plain'
  return { type: 'chat/usage', usage: { inputTokens: wordCount(message.text), outputTokens, model } }
}
