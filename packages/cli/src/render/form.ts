import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import type { Key } from '../terminal/keys.ts'
import { harmless } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import type { Pressed, Question, Rows } from './ask.ts'
import { answerOf, choicesIn, expects, typedOf } from './field.ts'
import { lineOf, pressLine, shownLine } from './line.ts'
import type { Line } from './line.ts'

type Answers = Readonly<Record<string, ChatInputAnswer>>

interface Stand {
  /** Which question is being answered. */
  readonly at: number
  readonly answers: Answers
  readonly line: Line
  readonly problem?: string
}

/** Questions that an agent puts to a person, one after the other. */
export class Form implements Question {
  readonly #request: ChatInputRequest
  readonly #stand: Stand

  constructor(request: ChatInputRequest, stand?: Stand) {
    this.#request = request
    this.#stand = stand ?? {
      at: 0,
      answers: request.answers ?? {},
      line: lineOf(typedOf(request.questions?.[0], request.answers)),
    }
  }

  get types(): boolean {
    return this.#question !== undefined
  }

  head(style: Style): readonly string[] {
    const { message = 'A question', url } = this.#request
    const [first = '', ...rest] = harmless(message).split('\n')
    return [
      `${style.yellow('?')} ${style.bold(first)}`,
      ...rest.map((line) => `  ${line}`),
      ...(url === undefined ? [] : [`  ${style.cyan(harmless(url))}`]),
    ]
  }

  rows(style: Style, columns: number): Rows {
    const question = this.#question
    if (!question) return { rows: [`${style.bold('[y]')} done  ${style.bold('[n]')} no`] }
    const { at, line, problem } = this.#stand
    const count = this.#questions.length
    const number = count > 1 ? style.dim(`${at + 1}/${count} `) : ''
    const asked = `${number}${harmless(question.message).replaceAll('\n', ' ')}${question.required ? ' *' : ''}`
    const shown = shownLine(line, columns - 3)
    const above = [asked, ...choicesIn(question).map((choice) => `  ${choice}`)]
    return {
      rows: [
        ...above,
        `> ${shown.text}`,
        problem === undefined ? style.dim(`${expects(question)}; Esc answers nothing`) : style.red(problem),
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
    if (key.name === 'up' || key.name === 'shift-tab') return { next: this.#to(this.#stand.at - 1) }
    const line = pressLine(this.#stand.line, key)
    if (!line) return { next: this }
    const { problem: _, ...stand } = this.#stand
    return { next: new Form(this.#request, { ...stand, line }) }
  }

  #enter(question: ChatInputQuestion): Pressed<Form> {
    const { at, line, answers } = this.#stand
    const given = answerOf(question, line.text)
    if (typeof given === 'string')
      return { next: new Form(this.#request, { ...this.#stand, problem: given }) }
    const next = new Form(this.#request, { ...this.#stand, answers: { ...answers, [question.id]: given } })
    if (at === this.#questions.length - 1) return next.#completed('accept')
    const { id: requestId } = this.#request
    const draft = {
      type: 'chat/inputAnswerChanged',
      requestId,
      questionId: question.id,
      answer: given,
    } as const
    return { next: next.#to(at + 1), draft }
  }

  #to(wished: number): Form {
    const at = Math.max(0, wished)
    const { answers } = this.#stand
    return new Form(this.#request, { at, answers, line: lineOf(typedOf(this.#questions[at], answers)) })
  }

  #completed(response: 'accept' | 'decline'): Pressed<Form> {
    const { id: requestId } = this.#request
    const answers = response === 'accept' && this.#questions.length > 0 && { answers: this.#stand.answers }
    return { answer: { say: { type: 'chat/inputCompleted', requestId, response, ...answers } } }
  }

  get #questions(): readonly ChatInputQuestion[] {
    return this.#request.questions ?? []
  }

  get #question(): ChatInputQuestion | undefined {
    return this.#questions[this.#stand.at]
  }
}
