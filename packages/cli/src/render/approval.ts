import { choices } from '@atrium/host/access/choices'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ToolCallPendingConfirmation, ToolCallPendingResult } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { textOf } from '../session/pending-requests.ts'
import type { Key } from '../terminal/keys.ts'
import { sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'
import { resultLines } from './narrator.ts'
import type { Pressed, Question, Rows } from './question.ts'
import { lineOf, pressLine, shownLine } from './line.ts'
import type { Line } from './line.ts'
import { widthOf } from './table.ts'

type Call = ToolCallPendingConfirmation | ToolCallPendingResult

interface Choice {
  readonly key: string
  readonly label: string
  readonly approved: boolean
  readonly optionId?: string
  /** What the user types after this choice: another input for the tool, or a reason. Undefined: nothing. */
  readonly types?: 'input' | 'reason'
}

/** A question that asks the user to approve a tool call, or the result of one. */
export class Approval implements Question {
  readonly #turnId: string
  readonly #call: Call
  readonly #preview: readonly string[]
  readonly #typed: { readonly choice: Choice; readonly line: Line } | undefined

  constructor(turnId: string, call: Call, preview: readonly string[] = [], typed?: Approval['typed']) {
    this.#turnId = turnId
    this.#call = call
    this.#preview = preview
    this.#typed = typed
  }

  get typed(): { readonly choice: Choice; readonly line: Line } | undefined {
    return this.#typed
  }

  get types(): boolean {
    return this.#typed !== undefined
  }

  head(style: Style): readonly string[] {
    const call = this.#call
    const asked =
      call.status === 'pending-confirmation'
        ? plain(call.confirmationTitle ?? call.invocationMessage)
        : `Use the result: ${plain(call.pastTenseMessage)}`
    const shown =
      call.status === 'pending-result-confirmation'
        ? resultLines(call.content ?? []).map((line) => `  ${line}`)
        : inputLines(call, asked)
    return [
      `${style.yellow('?')} ${style.bold(oneLine(asked))}`,
      ...(this.#preview.length > 0 ? this.#preview : shown),
    ]
  }

  rows(style: Style, columns: number): Rows {
    if (!this.#typed) return { rows: keyRows(choicesOf(this.#call), style, columns) }
    const label = this.#typed.choice.types === 'input' ? 'input' : 'because'
    const shown = shownLine(this.#typed.line, columns - label.length - 2)
    const cursor = { row: 0, column: label.length + 2 + shown.column }
    return {
      rows: [`${style.yellow(label)}: ${shown.text}`, style.dim('Enter sends it, Esc goes back')],
      cursor,
    }
  }

  press(key: Key): Pressed<Approval> {
    return this.#typed ? this.#type(this.#typed, key) : this.#choose(key)
  }

  #choose(key: Key): Pressed<Approval> {
    const pressed = key.name === 'text' ? key.text?.toLowerCase() : undefined
    const choice = choicesOf(this.#call).find((each) => each.key === pressed)
    if (!choice) return { next: this }
    if (!choice.types) return { answer: { action: this.#decided(choice) } }
    const { toolInput } = this.#call
    const initial = choice.types === 'input' && typeof toolInput === 'string' ? toolInput : ''
    return { next: this.#with({ choice, line: lineOf(initial) }) }
  }

  #type(typed: NonNullable<Approval['typed']>, key: Key): Pressed<Approval> {
    if (key.name === 'enter') return { answer: { action: this.#decided(typed.choice, typed.line.text) } }
    if (key.name === 'escape') return { next: this.#with(undefined) }
    const line = pressLine(typed.line, key)
    return { next: line ? this.#with({ ...typed, line }) : this }
  }

  #with(typed: Approval['typed']): Approval {
    return new Approval(this.#turnId, this.#call, this.#preview, typed)
  }

  #decided(choice: Choice, typed?: string): ChatAction {
    return decision(this.#turnId, this.#call, choice, typed)
  }
}

/** Returns the action of a choice, with the typed input or reason. */
function decision(turnId: string, call: Call, choice: Choice, typed?: string): ChatAction {
  const { toolCallId } = call
  const { approved, optionId: selectedOptionId } = choice
  if (call.status === 'pending-result-confirmation')
    return { type: 'chat/toolCallResultConfirmed', turnId, toolCallId, approved }
  const chosen = { turnId, toolCallId, ...(selectedOptionId !== undefined && { selectedOptionId }) }
  const type = 'chat/toolCallConfirmed'
  if (approved) {
    const edited = choice.types === 'input' && typed !== undefined && { editedToolInput: typed }
    return { type, ...chosen, approved: true, confirmed: 'user-action', ...edited }
  }
  const why = typed !== undefined && typed.trim() !== '' && { reasonMessage: typed }
  return { type, ...chosen, approved: false, reason: 'denied', ...why }
}

/**
 * Returns the action of an approval that the user gave in advance: once, or for the session if the call offers that.
 */
export function approvalInAdvance(turnId: string, call: Call, scope: 'once' | 'session'): ChatAction {
  const offered = choicesOf(call).filter(({ approved, types }) => approved && !types)
  const matching =
    offered.find(({ optionId }) => optionId === choices[scope]) ??
    offered.find(({ optionId = '' }) => scope === 'session' && optionId.endsWith('.always'))
  const choice = matching ?? offered[0] ?? yes
  return decision(turnId, call, choice)
}

/** Returns the choices of a call. The host's own options have letters as keys, the options of an agent have numbers. */
function choicesOf(call: Call): readonly Choice[] {
  if (call.status === 'pending-result-confirmation') return [yes, no]
  const options = call.options ?? []
  const own = options.length > 0 && options.every(({ id }) => letters.has(id))
  const offered: readonly Choice[] = own
    ? options.flatMap(({ id }) => letters.get(id) ?? [])
    : options.slice(0, 9).map(({ id, label, kind }, at) => ({
        key: String(at + 1),
        label: oneLine(sanitize(label)),
        approved: kind === 'approve',
        optionId: id,
      }))
  const basic = offered.length === 0 ? [yes, no] : offered
  const edit = call.editable === true && typeof call.toolInput === 'string' ? [editing(own)] : []
  const why: readonly Choice[] = basic.some(({ types }) => types === 'reason') ? [] : [reason]
  return [
    ...basic.filter(({ approved }) => approved),
    ...edit,
    ...basic.filter(({ approved }) => !approved),
    ...why,
  ]
}

const yes: Choice = { key: 'y', label: 'yes', approved: true }
const no: Choice = { key: 'n', label: 'no', approved: false }
const reason: Choice = { key: 'r', label: 'no, because', approved: false, types: 'reason' }
const editing = (own: boolean): Choice => ({
  key: 'e',
  label: 'edit',
  approved: true,
  types: 'input',
  ...(own && { optionId: choices.once }),
})
const letters: ReadonlyMap<string, Choice> = new Map([
  [choices.once, { key: 'y', label: 'once', approved: true, optionId: choices.once }],
  [choices.session, { key: 's', label: 'this session', approved: true, optionId: choices.session }],
  [choices.folder, { key: 'a', label: 'always in this folder', approved: true, optionId: choices.folder }],
  [choices.deny, { ...no, optionId: choices.deny }],
  [choices.denyWhy, { ...reason, optionId: choices.denyWhy }],
])

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

/** The input of the tool, unless the question already contains it. */
function inputLines({ toolInput }: Call, asked: string): readonly string[] {
  if (typeof toolInput !== 'string' || toolInput.trim() === '' || asked.includes(sanitize(toolInput)))
    return []
  const lines = sanitize(toolInput).split('\n')
  const more = lines.length - maxLines
  return [
    ...lines.slice(0, maxLines).map((line) => `  ${line}`),
    ...(more > 0 ? [`  … ${more} more lines`] : []),
  ]
}

const maxLines = 12

function plain(text: StringOrMarkdown): string {
  return sanitize(textOf(text))
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim()
}
