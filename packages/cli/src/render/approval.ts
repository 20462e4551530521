import { choices } from '@atrium/host/access/choices'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type {
  ConfirmationOption,
  ToolCallPendingConfirmation,
  ToolCallPendingResult,
} from '@atrium/protocol/chat/tool'
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

/** What the user has typed so far: a line for a choice that needs one, or a key that is none of the choices. */
interface Typed {
  readonly line?: { readonly choice: Choice; readonly line: Line }
  readonly wrongKey?: string
}

/** A question that asks the user to approve a tool call, or the result of one. */
export class Approval implements Question {
  readonly #turnId: string
  readonly #call: Call
  readonly #preview: readonly string[]
  readonly #typed: Typed['line']
  readonly #wrongKey: Typed['wrongKey']

  constructor(turnId: string, call: Call, preview: readonly string[] = [], { line, wrongKey }: Typed = {}) {
    this.#turnId = turnId
    this.#call = call
    this.#preview = preview
    this.#typed = line
    this.#wrongKey = wrongKey
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
    if (!this.#typed) return { rows: [...this.#keyRows(style, columns)] }
    const label = this.#typed.choice.types === 'input' ? 'input' : 'because'
    const shown = shownLine(this.#typed.line, columns - label.length - 2)
    const cursor = { row: 0, column: label.length + 2 + shown.column }
    return {
      rows: [`${style.yellow(label)}: ${shown.text}`, style.dim('Enter sends it, Esc goes back')],
      cursor,
    }
  }

  /** Returns the rows that show the keys. After a wrong key, a further row says which keys there are. */
  #keyRows(style: Style, columns: number): readonly string[] {
    const offered = choicesOf(this.#call)
    const rows = keyRows(offered, style, columns)
    if (this.#wrongKey === undefined) return rows
    const keys = offered.map(({ key }) => key)
    const wrong = `${oneLine(sanitize(this.#wrongKey))} is not one of the keys: press ${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}.`
    return [...rows, style.yellow(wrong)]
  }

  press(key: Key): Pressed<Approval> {
    return this.#typed ? this.#type(this.#typed, key) : this.#choose(key)
  }

  #choose(key: Key): Pressed<Approval> {
    const pressed = key.name === 'text' ? key.text?.toLowerCase() : undefined
    const choice = choicesOf(this.#call).find((each) => each.key === pressed)
    if (!choice) return { next: pressed === undefined ? this : this.#with({ wrongKey: pressed }) }
    if (!choice.types) return { answer: { action: this.#decided(choice) } }
    const { toolInput } = this.#call
    const initial = choice.types === 'input' && typeof toolInput === 'string' ? toolInput : ''
    return { next: this.#with({ line: { choice, line: lineOf(initial) } }) }
  }

  #type(typed: NonNullable<Typed['line']>, key: Key): Pressed<Approval> {
    if (key.name === 'enter') return { answer: { action: this.#decided(typed.choice, typed.line.text) } }
    if (key.name === 'escape') return { next: this.#with({}) }
    const line = pressLine(typed.line, key)
    return { next: line ? this.#with({ line: { ...typed, line } }) : this }
  }

  #with(typed: Typed): Approval {
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

/** Returns the choices of a call, those that approve first. */
function choicesOf(call: Call): readonly Choice[] {
  if (call.status === 'pending-result-confirmation') return [yes, no]
  const options = call.options ?? []
  const own = options.length > 0 && options.every(({ id }) => letters.has(id))
  const offered = own ? options.flatMap(({ id }) => letters.get(id) ?? []) : agentChoices(options)
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

/**
 * The choices of an agent. Their keys are those of the host's own choices with the same meaning, whatever the agent calls them.
 * If several choices have one meaning, the first has the letter, and the others have numbers.
 */
function agentChoices(options: readonly ConfirmationOption[]): readonly Choice[] {
  const used = new Set<string>()
  return options.slice(0, 9).map(({ id, label, kind }, at) => {
    const approved = kind === 'approve'
    const letter = letterOf(id, label, approved)
    const key = used.has(letter) ? String(at + 1) : letter
    used.add(key)
    return { key, label: oneLine(sanitize(label)), approved, optionId: id }
  })
}

/** The letter of an agent's choice. The host makes the id of the choice from its meaning (N41). */
function letterOf(id: string, label: string, approved: boolean): string {
  if (id.startsWith('agent.always')) return /\bsession\b/i.test(label) ? 's' : 'a'
  if (id.startsWith('agent.never')) return 'd'
  return approved ? 'y' : 'n'
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
