import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import { decisionAbout, resultDecisionAbout } from '../session/decision.ts'
import type { SessionEvent } from '../session/events.ts'
import { textOf } from '../session/pending-requests.ts'
import { usageLine } from '../session/usage.ts'
import { onOneLine, sanitize } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** The format of streamed text. Each method returns output for the terminal. */
export interface TextFormat {
  feed(text: string): string
  /** Called before other output interrupts the text. */
  pause(): string
  end(): string
}

export interface TextSink {
  /** Writes a piece of the answer. */
  text(piece: string): void
  /** Writes a line about the answer. */
  note(line: string): void
  /** Ends an unfinished line of the answer. */
  endLine(): void
}

export interface NarratorOptions {
  readonly sink: TextSink
  /** The style of the notes. */
  readonly style: Style
  /** Returns a new format, for each part of an answer. */
  readonly text: () => TextFormat
  /** Whether the messages of users are shown. `run` leaves them out: its user has just typed the message. */
  readonly messages: boolean
  /** Whether the agent takes a message into the turn that runs. Undefined if nobody knows. */
  readonly takesSteering?: () => boolean | undefined
}

/** Writes the events of a chat for a reader: the text of the answer, and one note for each other event. */
export class Narrator {
  readonly #options: NarratorOptions
  /** The part of the answer that is being written. */
  #part: { readonly name: string; readonly text: TextFormat } | undefined
  /** Whether nothing of the current part was written since the last note. */
  #paused = true
  #reasoning: { name: string; text: string } | undefined

  constructor(options: NarratorOptions) {
    this.#options = options
  }

  show(event: SessionEvent): void {
    if (event.kind === 'text') return this.#addText(event.part, event.text)
    if (event.kind === 'reasoning') return this.#addReasoning(event.part, event.text)
    // Calls with these statuses have no note, so they do not interrupt the text around them.
    if (event.kind === 'call' && silent.has(event.call.status)) return
    if (event.kind === 'began' || event.kind === 'ended') this.end()
    else this.pause()
    for (const line of this.#lines(event)) this.#options.sink.note(line)
  }

  /** Ends the current line, because other output follows. The text may continue below it. */
  pause(): void {
    const { sink, style } = this.#options
    if (this.#part && !this.#paused) {
      sink.text(this.#part.text.pause())
      sink.endLine()
    }
    this.#paused = true
    if (this.#reasoning) sink.note(style.dim(`· ${shortened(this.#reasoning.text, 100)}`))
    this.#reasoning = undefined
  }

  /** Ends the current part. */
  end(): void {
    const { sink } = this.#options
    if (this.#part) sink.text(this.#part.text.end())
    if (this.#part) sink.endLine()
    this.#part = undefined
    this.pause()
  }

  #addText(name: string, piece: string): void {
    if (this.#part?.name !== name) {
      this.end()
      this.#part = { name, text: this.#options.text() }
    }
    this.#paused = false
    this.#options.sink.text(this.#part.text.feed(piece))
  }

  #addReasoning(name: string, piece: string): void {
    if (this.#reasoning?.name !== name) this.end()
    this.#reasoning = { name, text: (this.#reasoning?.text ?? '') + piece }
  }

  #lines(event: SessionEvent): readonly string[] {
    const { style, messages } = this.#options
    switch (event.kind) {
      case 'began':
        if (event.again) return [style.dim('· the turn goes on')]
        return messages ? messageLines(event.turn.message.text, style) : []
      case 'call':
        return callLines(event.call, style)
      case 'notice':
        return [style.dim(`· ${shortened(event.text, 200)}`)]
      case 'failed': {
        const { message, errorType } = event.part.error
        return [style.red(`✗ ${sanitize(message === '' ? `The turn failed (${errorType}).` : message)}`)]
      }
      case 'ended': {
        const used = usageLine(event.turn)
        return [
          ...(event.turn.state === 'cancelled' ? [style.yellow('· cancelled')] : []),
          ...(used === undefined ? [] : [style.dim(`· ${used}`)]),
        ]
      }
      case 'pending': {
        const steers = this.#options.takesSteering?.() === false ? 'after this turn' : 'will steer the turn'
        const how = event.as === 'steering' ? steers : 'waits'
        return messages ? [style.dim(`· ${how}: ${shortened(event.message.message.text, 200)}`)] : []
      }
      default:
        return []
    }
  }
}

/** The statuses in which a call has no note. A prompt shows the calls that are pending. */
const silent = new Set<string>([
  'streaming',
  'pending-confirmation',
  'pending-result-confirmation',
  'auth-required',
])

function messageLines(text: string, style: Style): readonly string[] {
  const [first = '', ...rest] = sanitize(text).split('\n')
  return ['', `${style.cyan('›')} ${style.bold(first)}`, ...rest.map((line) => `  ${line}`)]
}

function callLines(call: ToolCallState, style: Style): readonly string[] {
  const name =
    'invocationMessage' in call ? plain(call.invocationMessage ?? call.displayName) : call.displayName
  const by = (words: string | undefined) =>
    words === undefined ? [] : [style.dim(`  ${shortened(words, 200)}`)]
  if (call.status === 'running') return [style.dim(`· ${shortened(name, 200)}`), ...by(decisionAbout(call))]
  if (call.status === 'cancelled') {
    const why = call.reasonMessage === undefined ? '' : `: ${plain(call.reasonMessage)}`
    const line = style.yellow(`✗ ${shortened(name, 200)} (${call.reason}${shortened(why, 200)})`)
    return [line, ...by(call.reason === 'denied' ? decisionAbout(call) : resultDecisionAbout(call))]
  }
  if (call.status !== 'completed') return []
  const done = shortened(plain(call.pastTenseMessage), 200)
  const sign = call.success ? style.green('✓') : style.red('✗')
  // Who allowed the call is not repeated here: the note of the running call has said it.
  const results = resultLines(call.content ?? []).map((line) => style.dim(`  ${line}`))
  return [`${sign} ${done}`, ...by(resultDecisionAbout(call)), ...results]
}

/** The first lines of a result. */
function resultLines(content: readonly ToolResultContent[]): readonly string[] {
  const text = resultText(content)
  if (text === '') return []
  const lines = text.split('\n')
  const more = lines.length - maxLines
  return [...lines.slice(0, maxLines), ...(more > 0 ? [`… ${more} more lines`] : [])]
}

/** The text of a result. */
export function resultText(content: readonly ToolResultContent[]): string {
  const texts = content.flatMap((each) => (each.type === 'text' ? [each.text] : []))
  // The preview of a terminal repeats the text, so it is used only if there is no text.
  const previews = content.flatMap((each) => (each.type === 'terminal' ? [each.result?.preview ?? ''] : []))
  return sanitize((texts.length > 0 ? texts : previews).join('\n').trim())
}

const maxLines = 8

function plain(text: StringOrMarkdown): string {
  return sanitize(textOf(text))
}

function shortened(text: string, maxLength: number): string {
  const line = onOneLine(text)
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}
