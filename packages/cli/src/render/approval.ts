import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { textOf } from '../session/pending-requests.ts'
import type { Key } from '../terminal/keys.ts'
import { onOneLine, sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { choicesOf, decision } from './approval-choices.ts'
import type { Call, Choice } from './approval-choices.ts'
import { hardRows } from './colour.ts'
import { pageOf, start, unseen } from './paging.ts'
import type { Place } from './paging.ts'
import type { Pressed, Printed, Question, Rows, WindowSize } from './question.ts'
import { lineOf, pressLine, shownLine } from './line.ts'
import type { Line } from './line.ts'
import { widthOf } from './table.ts'

/** What a user must see before the answer, beside the title: the lines of the input, of the edits or of the result. */
export interface ApprovalText {
  readonly lines: readonly string[]
  /** Whether a part of it could not be read. */
  readonly incomplete?: boolean
}

interface ApprovalState {
  /** The place in the text up to which it was on the screen. */
  readonly seen: Place
  /** What the user types after a choice that needs a line. */
  readonly line?: { readonly choice: Choice; readonly line: Line }
  /** The last key, if it was none of the choices. */
  readonly wrongKey?: string
  /** Whether the user has approved a text with unseen lines once, and is asked again. */
  readonly again?: boolean
}

/** A question that asks the user to approve a tool call, or the result of one. */
export class Approval implements Question {
  readonly #turnId: string
  readonly #call: Call
  readonly #title: string
  readonly #text: ApprovalText
  readonly #state: ApprovalState

  /** `text`: what the tool would do or what its result is. Without it, the question shows the input of the call. */
  constructor(turnId: string, call: Call, text?: ApprovalText, state: ApprovalState = { seen: start }) {
    this.#turnId = turnId
    this.#call = call
    this.#title = titleOf(call)
    this.#text = text ?? { lines: textLines(this.#title, inputOf(call)) }
    this.#state = state
  }

  get types(): boolean {
    return this.#state.line !== undefined
  }

  /** The first page has the title. Each page leaves room for the rows of the keys below it. */
  more(style: Style, { columns, height }: WindowSize): Printed<Approval> {
    const first = this.#state.seen === start
    const title = `${style.yellow('?')} ${style.bold(shortTitle(this.#title))}`
    const head = first ? [title] : []
    const keys = keyRows([...choicesOf(this.#call), showMore(99_999)], style, columns).length
    const titleRows = first ? Math.ceil((widthOf(title) * 1.5) / columns) : 0
    // Below the page are: the note about the rest, the keys, a row about them, and the status row of the view.
    const room = Math.max(1, height - keys - titleRows - 3)
    const page = pageOf(this.#text.lines, this.#state.seen, { columns: columns - 1, rows: room })
    const rest = unseen(this.#text.lines, page.to)
    const lines = [...head, ...page.rows, ...(rest > 0 ? [style.dim(`  … ${linesOf(rest)}`)] : [])]
    return { lines, next: this.#with({ seen: page.to }) }
  }

  rows(style: Style, columns: number): Rows {
    const { line: typed } = this.#state
    if (!typed) return { rows: this.#keyRows(style, columns) }
    const label = typed.choice.types === 'input' ? 'input' : 'because'
    const shown = shownLine(typed.line, columns - label.length - 2)
    const cursor = { row: 0, column: label.length + 2 + shown.column }
    return {
      rows: [`${style.yellow(label)}: ${shown.text}`, style.dim('Enter sends it, Esc goes back')],
      cursor,
    }
  }

  /** Returns the rows that show the keys. After a wrong key, a further row says which keys there are. */
  #keyRows(style: Style, columns: number): readonly string[] {
    const { wrongKey, again = false } = this.#state
    const offered = this.#offered
    const more = this.#unseen > 0 ? [showMore(this.#unseen)] : []
    const rows = keyRows([...more, ...offered], style, columns)
    if (again) return [...hardRows(this.#warning, columns - 1).map(style.yellow), ...rows]
    if (wrongKey === undefined) return rows
    const keys = [...more, ...offered].map(({ key }) => key)
    const wrong = `${onOneLine(wrongKey)} is not one of the keys: press ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}.`
    return [...rows, style.yellow(wrong)]
  }

  get #warning(): string {
    const rest = this.#unseen
    const what = rest > 0 ? `${rest} ${rest === 1 ? 'line was' : 'lines were'} never on the screen.` : ''
    return `${what || 'A part of it cannot be read.'} y once more approves all of it, unseen.`
  }

  /** The choices that are offered now. What was not wholly on the screen can be approved only once, and only as it is. */
  get #offered(): readonly Choice[] {
    const all = choicesOf(this.#call)
    if (this.#unseen === 0 && this.#text.incomplete !== true) return all
    return all.filter(({ approved, key }) => !approved || key === 'y')
  }

  get #unseen(): number {
    return unseen(this.#text.lines, this.#state.seen)
  }

  press(key: Key): Pressed<Approval> {
    return this.#state.line ? this.#type(this.#state.line, key) : this.#choose(key)
  }

  #choose(key: Key): Pressed<Approval> {
    const pressed = key.name === 'text' ? key.text?.toLowerCase() : undefined
    const hidden = this.#unseen > 0
    if (hidden && pressed === showMore(0).key) return { next: this.#with({}), more: true }
    const choice = this.#offered.find((each) => each.key === pressed)
    if (!choice) return { next: pressed === undefined ? this : this.#with({ wrongKey: pressed }) }
    if (choice.approved && this.#state.again !== true && (hidden || this.#text.incomplete === true))
      return { next: this.#with({ again: true }), anew: true }
    if (!choice.types) return { answer: { action: this.#decided(choice) } }
    const { toolInput } = this.#call
    const initial = choice.types === 'input' && typeof toolInput === 'string' ? toolInput : ''
    return { next: this.#with({ line: { choice, line: lineOf(initial) } }) }
  }

  #type(typed: NonNullable<ApprovalState['line']>, key: Key): Pressed<Approval> {
    if (key.name === 'enter') return { answer: { action: this.#decided(typed.choice, typed.line.text) } }
    if (key.name === 'escape') return { next: this.#with({}) }
    const line = pressLine(typed.line, key)
    return { next: line ? this.#with({ line: { ...typed, line } }) : this }
  }

  #with(state: Partial<ApprovalState>): Approval {
    const { seen } = this.#state
    return new Approval(this.#turnId, this.#call, this.#text, { seen, ...state })
  }

  #decided(choice: Choice, typed?: string) {
    return decision(this.#turnId, this.#call, choice, typed)
  }
}

/** Returns the text of the question: what is asked, in full. */
export function titleOf(call: Call): string {
  return call.status === 'pending-confirmation'
    ? plain(call.confirmationTitle ?? call.invocationMessage)
    : `Use the result: ${plain(call.pastTenseMessage)}`
}

/**
 * Returns the lines below the title: the input, unless the title shows all of it. A title that is cut or has several lines is
 * among them, unless it only repeats the input.
 */
export function textLines(title: string, input: string): readonly string[] {
  const [asked, given] = [title.trim(), sanitize(input).trimEnd()]
  const whole = shortTitle(asked) === asked
  if (given.trim() === '' || (whole && asked.includes(given))) return whole ? [] : indented(asked)
  return [...(whole || asked.includes(given) ? [] : indented(asked)), ...indented(given)]
}

export function indented(text: string): readonly string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** Returns the title as the row of the question has it. */
function shortTitle(title: string): string {
  const line = onOneLine(title)
  return line.length > maxTitle ? `${line.slice(0, maxTitle)}…` : line
}

const maxTitle = 200

function inputOf({ toolInput }: Call): string {
  return typeof toolInput === 'string' ? toolInput : ''
}

function showMore(count: number) {
  return { key: 'v', label: `show ${linesOf(count)}` }
}

function linesOf(count: number): string {
  return `${count} more ${count === 1 ? 'line' : 'lines'}`
}

/** Puts as many keys into each row as fit. */
function keyRows(
  keys: readonly { readonly key: string; readonly label: string }[],
  style: Style,
  columns: number,
): readonly string[] {
  const rows: string[] = []
  for (const { key, label } of keys) {
    const shown = `${style.bold(`[${key}]`)} ${label}`
    const last = rows.at(-1)
    if (last !== undefined && widthOf(last) + 2 + widthOf(shown) < columns)
      rows[rows.length - 1] = `${last}  ${shown}`
    else rows.push(shown)
  }
  return rows
}

function plain(text: StringOrMarkdown): string {
  return sanitize(textOf(text))
}
