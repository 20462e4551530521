import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import type { Key } from '../terminal/keys.ts'
import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import type { Pressed, Printed, Question, Rows } from './question.ts'
import { answerOf, choicesIn, expects, typedOf } from './field.ts'
import { lineOf, pressLine, shownLine } from './line.ts'
import type { Line } from './line.ts'

type Answers = Readonly<Record<string, ChatInputAnswer>>

interface FormState {
  /** The index of the current question. */
  readonly at: number
  readonly answers: Answers
  readonly line: Line
  readonly problem?: string
}

/** A form of an agent: its questions are asked one after the other. */
export class Form implements Question {
  readonly #request: ChatInputRequest
  readonly #state: FormState

  constructor(request: ChatInputRequest, state?: FormState) {
    this.#request = request
    this.#state = state ?? {
      at: 0,
      answers: request.answers ?? {},
      line: lineOf(typedOf(request.questions?.[0], request.answers)),
    }
  }

  get types(): boolean {
    return this.#question !== undefined
  }

  more(style: Style): Printed<Form> {
    const { message = 'A question', url } = this.#request
    const [first = '', ...rest] = sanitize(message).split('\n')
    const lines = [
      `${style.yellow('?')} ${style.bold(first)}`,
      ...rest.map((line) => `  ${line}`),
      ...(url === undefined ? [] : [`  ${style.cyan(sanitize(url))}`]),
    ]
    return { lines, next: this }
  }

  rows(style: Style, columns: number): Rows {
    const question = this.#question
    if (!question) return { rows: [`${style.bold('[y]')} done  ${style.bold('[n]')} no`] }
    const { at, line, problem } = this.#state
    const count = this.#questions.length
    const number = count > 1 ? style.dim(`${at + 1}/${count} `) : ''
    const asked = `${number}${sanitize(question.message).replaceAll('\n', ' ')}${question.required ? ' *' : ''}`
    const shown = shownLine(line, columns - 3)
    const above = [asked, ...choicesIn(question).map((choice) => `  ${choice}`)]
    return {
      rows: [
        ...above,
        `> ${shown.text}`,
        problem === undefined ? style.dim(`${expects(question)}; Esc declines the form`) : style.red(problem),
      ],
      cursor: { row: above.length, column: 2 + shown.column },
    }
  }

  press(key: Key): Pressed<Form> {
    if (key.name === 'escape') return this.#completed('decline')
    const question = this.#question
    if (!question) {
      const pressed = key.name === 'text' ? key.text?.toLowerCase() : key.name
      if (pressed === 'y' || pressed === 'enter') return this.#completed('accept')
      return pressed === 'n' ? this.#completed('decline') : { next: this }
    }
    if (key.name === 'enter') return this.#enter(question)
    if (key.name === 'up' || key.name === 'shift-tab') return { next: this.#to(this.#state.at - 1) }
    const line = pressLine(this.#state.line, key)
    if (!line) return { next: this }
    const { problem: _, ...state } = this.#state
    return { next: new Form(this.#request, { ...state, line }) }
  }

  #enter(question: ChatInputQuestion): Pressed<Form> {
    const { at, line, answers } = this.#state
    const answer = answerOf(question, line.text)
    if (typeof answer === 'string')
      return { next: new Form(this.#request, { ...this.#state, problem: answer }) }
    const next = new Form(this.#request, { ...this.#state, answers: { ...answers, [question.id]: answer } })
    if (at === this.#questions.length - 1) return next.#completed('accept')
    const { id: requestId } = this.#request
    const draft = {
      type: 'chat/inputAnswerChanged',
      requestId,
      questionId: question.id,
      answer,
    } as const
    return { next: next.#to(at + 1), draft }
  }

  #to(index: number): Form {
    const at = Math.max(0, index)
    const { answers } = this.#state
    return new Form(this.#request, { at, answers, line: lineOf(typedOf(this.#questions[at], answers)) })
  }

  #completed(response: 'accept' | 'decline'): Pressed<Form> {
    const { id: requestId } = this.#request
    const answers = response === 'accept' && this.#questions.length > 0 && { answers: this.#state.answers }
    return { answer: { action: { type: 'chat/inputCompleted', requestId, response, ...answers } } }
  }

  get #questions(): readonly ChatInputQuestion[] {
    return this.#request.questions ?? []
  }

  get #question(): ChatInputQuestion | undefined {
    return this.#questions[this.#state.at]
  }
}
