import { withoutRepeated } from '@atrium/protocol/chat/repeated-request'
import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ActiveTurn, MarkdownPart, ReasoningPart, ResponsePart } from '@atrium/protocol/chat/state'

/**
 * The tools of the guide. Users approve the calls of `run`, `leave`, `read`, `write` and `edit`, and the result of `review`.
 * The tools for comments need no approval.
 */
export type ToolName =
  | 'run'
  | 'leave'
  | 'read'
  | 'write'
  | 'edit'
  | 'comment'
  | 'reply'
  | 'comments'
  | 'review'

/**
 * All steps of a turn, computed before the first step is played. A resumed turn skips the steps that its state already
 * contains.
 */
export type Script = readonly Step[]
export type Step =
  | TextStep
  | NoticeStep
  | WorkerStep
  | ToolStep
  | OfferedStep
  | LoginStep
  | FormStep
  | FailStep

export interface TextStep {
  readonly kind: 'markdown' | 'reasoning'
  /** The text of the step. It is a function if it depends on earlier steps of the turn. */
  readonly text: string | ((turn: ActiveTurn) => string)
  /** Delay before each word, in milliseconds. */
  readonly ms: number
  readonly activity?: string
}

export interface NoticeStep {
  readonly kind: 'systemNotification'
  readonly text: string
}

/** A tool call that gives the text as a task to a worker. */
export interface WorkerStep {
  readonly kind: 'toolCall'
  readonly text: string
}

/** A call of one of the guide's own tools. */
export interface ToolStep {
  readonly kind: 'toolCall'
  readonly tool: ToolName
  readonly input: string
}

/** A call of a tool that the session has besides the guide's own. */
export interface OfferedStep {
  readonly kind: 'toolCall'
  /** The name under which the tool is offered. */
  readonly offered: string
  /** The input as JSON. */
  readonly input: string
}

/** A form for the user. */
export interface FormStep {
  readonly kind: 'inputRequest'
  readonly request: Omit<ChatInputRequest, 'id'>
}

/** A tool call that waits for a login. */
export interface LoginStep {
  readonly kind: 'toolCall'
  readonly login: true
}

/** Fails the turn, but only once. The resumed turn continues with the next step. */
export interface FailStep {
  readonly kind: 'fail'
  readonly error: Error
}

/**
 * Returns the first script that matches the parts of a turn. No script matches if another version of the guide started the
 * turn. The first script is then played from its beginning.
 */
export function chooseScript(scripts: Iterable<Script>, turn: ActiveTurn): Script {
  let first: Script | undefined
  for (const script of scripts) {
    if (matches(script, turn)) return script
    first ??= script
  }
  return first ?? []
}

/** Returns the parts of a turn that the script has produced, one for each played step. */
export function playedParts(script: Script, turn: ActiveTurn): readonly ResponsePart[] {
  return matches(script, turn) ? countedParts(turn) : []
}

export type TextPart = MarkdownPart | ReasoningPart

export function isText(part: ResponsePart): part is TextPart {
  return part.kind === 'markdown' || part.kind === 'reasoning'
}

function matches(script: Script, turn: ActiveTurn): boolean {
  const steps = script.filter((step) => step.kind !== 'fail')
  return countedParts(turn).every((part, i) => {
    const step = steps[i]
    return step?.kind === part.kind && (!isText(part) || textOf(step, turn).startsWith(part.content))
  })
}

/** Returns the text of a step. The text is empty for a step without text. */
export function textOf(step: Step, turn: ActiveTurn): string {
  const text = 'text' in step ? step.text : ''
  return typeof text === 'string' ? text : text(turn)
}

/**
 * Returns the parts that belong to steps. Errors belong to no step. An interrupted call does not count, because its
 * step is repeated in a new part. Only an interrupted call of a client's tool with a complete input counts: the
 * client may have begun to run it, and it must not run twice.
 */
function countedParts(turn: ActiveTurn): readonly ResponsePart[] {
  return withoutRepeated(turn.responseParts).filter(
    (part) =>
      part.kind !== 'error' &&
      !(
        part.kind === 'toolCall' &&
        part.toolCall.status === 'cancelled' &&
        part.toolCall.reason === 'skipped' &&
        (part.toolCall.contributor?.kind !== 'client' || part.toolCall.toolInput === undefined)
      ),
  )
}
