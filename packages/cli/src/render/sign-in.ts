import type { ToolCallAuthRequired } from '@atrium/protocol/chat/tool'
import type { Key } from '../terminal/keys.ts'
import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import type { Pressed, Printed, Question, Rows } from './question.ts'
import { emptyLine, pressLine } from './line.ts'
import type { Line } from './line.ts'

/** A question for a token, for a tool call that waits for a sign-in. The token is shown as dots. */
export class SignIn implements Question {
  readonly types = true
  readonly #turnId: string
  readonly #call: ToolCallAuthRequired
  readonly #line: Line

  constructor(turnId: string, call: ToolCallAuthRequired, line = emptyLine) {
    this.#turnId = turnId
    this.#call = call
    this.#line = line
  }

  more(style: Style): Printed<SignIn> {
    const { resource, description } = this.#call.auth
    const name = sanitize(resource.resource_name ?? resource.resource)
    const lines = [
      `${style.yellow('?')} ${style.bold(`Sign in to ${name}`)} ${style.dim(sanitize(resource.resource))}`,
      ...(description === undefined ? [] : [`  ${sanitize(description)}`]),
    ]
    return { lines, next: this }
  }

  rows(style: Style): Rows {
    const count = Array.from(this.#line.text).length
    const dots = '•'.repeat(Math.min(count, 30))
    return {
      rows: [`token: ${dots}`, style.dim('Enter signs in, Esc does not')],
      cursor: { row: 0, column: 7 + dots.length },
    }
  }

  press(key: Key): Pressed<SignIn> {
    const { toolCallId, auth } = this.#call
    const token = this.#line.text.trim()
    if (key.name === 'enter' && token !== '')
      return { answer: { signIn: { resource: auth.resource.resource, token } } }
    if (key.name === 'escape') {
      const message = 'Nobody signed in'
      const result = { success: false, pastTenseMessage: message, error: { message } }
      return {
        answer: { action: { type: 'chat/toolCallComplete', turnId: this.#turnId, toolCallId, result } },
      }
    }
    const line = pressLine({ ...this.#line, at: this.#line.text.length }, key)
    return { next: line ? new SignIn(this.#turnId, this.#call, line) : this }
  }
}
