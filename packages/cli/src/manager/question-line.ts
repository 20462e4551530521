import { pressLine } from '../render/line.ts'
import type { Line } from '../render/line.ts'
import type { Key } from '../terminal/keys.ts'

/** A line that the user types below the list. */
export interface LineQuestion {
  readonly label: string
  readonly line: Line
  /** What else the keys do. It is asked at each drawing, because a host may answer while the user types. */
  readonly hint?: () => string
  /** Called with each change of the text. */
  readonly changed?: (text: string) => void
  /** Called at Enter with the text, and at Esc with undefined. */
  readonly done: (text: string | undefined) => void
  /** Whether one key answers: y is yes, and every other key is no. */
  readonly yesOrNo?: boolean
  /** Called at Tab. */
  readonly tab?: () => void
}

/** Applies a key. Returns undefined when the question has ended. */
export function pressQuestion(question: LineQuestion, key: Key): LineQuestion | undefined {
  const answer = answerOf(question, key)
  if (answer) {
    question.done(answer.text)
    return undefined
  }
  if (key.name === 'tab') {
    question.tab?.()
    return question
  }
  const line = pressLine(question.line, key)
  if (!line) return question
  if (line.text !== question.line.text) question.changed?.(line.text)
  return { ...question, line }
}

/** Returns the answer that a key gives; undefined if the question stays open. */
function answerOf(
  { yesOrNo, line }: LineQuestion,
  key: Key,
): { readonly text: string | undefined } | undefined {
  if (yesOrNo) return { text: key.text?.toLowerCase() === 'y' ? 'y' : undefined }
  if (key.name === 'enter') return { text: line.text }
  return key.name === 'escape' || key.name === 'ctrl-c' ? { text: undefined } : undefined
}
