import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import type { ActiveTurn, MarkdownPart, ReasoningPart, ResponsePart } from '@atrium/protocol/chat/state'

/** The tools that the guide has. */
export type ToolName = 'run' | 'read' | 'write' | 'edit'

/** A whole turn before any of it is said. What the state has of it already need not be said again. */
export type Script = readonly Step[]
export type Step = TextStep | NoticeStep | CallStep | ToolStep | LoginStep | FormStep | FailStep

export interface TextStep {
  readonly kind: 'markdown' | 'reasoning'
  readonly text: string | ((turn: ActiveTurn) => string)
  /** How long each word waits for the one before it. */
  readonly ms: number
  readonly activity?: string
}

export interface NoticeStep {
  readonly kind: 'systemNotification'
  readonly text: string
}

/** A tool call that lets a worker do what the text says. */
export interface CallStep {
  readonly kind: 'toolCall'
  readonly text: string
}

/** A tool call that asks first. */
export interface ToolStep {
  readonly kind: 'toolCall'
  readonly tool: ToolName
  readonly input: string
}

/** A form that people fill in. */
export interface FormStep {
  readonly kind: 'inputRequest'
  readonly request: Omit<ChatInputRequest, 'id'>
}

/** A tool call that waits until somebody signs in. */
export interface LoginStep {
  readonly kind: 'toolCall'
  readonly login: true
}

/** The turn fails here, but only once: a turn that is resumed goes on behind it. */
export interface FailStep {
  readonly kind: 'fail'
  readonly error: Error
}

/** The first that a turn can have begun with. One that none fits, because another version began it, is answered anew. */
export function fitting(scripts: Iterable<Script>, turn: ActiveTurn): Script {
  let first: Script | undefined
  for (const script of scripts) {
    if (fits(script, turn)) return script
    first ??= script
  }
  return first ?? []
}

/** What a turn has of a script, part for step. */
export function saidOf(script: Script, turn: ActiveTurn): readonly ResponsePart[] {
  return fits(script, turn) ? lasting(turn) : []
}

export type TextPart = MarkdownPart | ReasoningPart

export function isText(part: ResponsePart): part is TextPart {
  return part.kind === 'markdown' || part.kind === 'reasoning'
}

function fits(script: Script, turn: ActiveTurn): boolean {
  const steps = script.filter((step) => step.kind !== 'fail')
  return lasting(turn).every((part, i) => {
    const step = steps[i]
    return step?.kind === part.kind && (!isText(part) || textOf(step, turn).startsWith(part.content))
  })
}

/** Some words are only known when the turn has come to them. */
export function textOf(step: Step, turn: ActiveTurn): string {
  const text = 'text' in step ? step.text : ''
  return typeof text === 'string' ? text : text(turn)
}

/** What counts when a turn is resumed: a call that was cut off is made again, and errors are nobody's part. */
function lasting(turn: ActiveTurn): readonly ResponsePart[] {
  return turn.responseParts.filter(
    (part) =>
      part.kind !== 'error' &&
      !(
        part.kind === 'toolCall' &&
        part.toolCall.status === 'cancelled' &&
        part.toolCall.reason === 'skipped'
      ),
  )
}
