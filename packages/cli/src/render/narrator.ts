import type { ToolCallState, ToolResultContent } from '@atrium/protocol/chat/tool'
import type { StringOrMarkdown } from '@atrium/protocol/common/content'
import type { Happening } from '../session/events.ts'
import { harmless } from '../terminal/output.ts'
import type { Style } from '../terminal/output.ts'

/** What text goes through on its way to where it is read. */
export interface Text {
  feed(text: string): string
  /** Something else is said in between. */
  pause(): string
  end(): string
}

export interface Paper {
  /** The answer. */
  text(piece: string): void
  /** A line about it. */
  note(line: string): void
  fresh(): void
}

export interface NarratorOptions {
  readonly paper: Paper
  /** For what is said about the answer. */
  readonly style: Style
  /** Something new for every part of an answer. */
  readonly text: () => Text
  /** Whether messages are shown too: whoever has just typed one knows it. */
  readonly messages: boolean
}

/** A chat as it is read in a terminal: the answer itself, and a line for whatever else happens. */
export class Narrator {
  readonly #options: NarratorOptions
  #part: { readonly name: string; readonly text: Text } | undefined
  /** Nothing of it was said since something else was. */
  #rests = true
  #thought: { name: string; text: string } | undefined

  constructor(options: NarratorOptions) {
    this.#options = options
  }

  tell(happening: Happening): void {
    if (happening.kind === 'text') return this.#say(happening.part, happening.text)
    if (happening.kind === 'reasoning') return this.#think(happening.part, happening.text)
    // A call that is only being written says nothing yet, and text around it may still go on.
    if (happening.kind === 'call' && silent.has(happening.call.status)) return
    if (happening.kind === 'began' || happening.kind === 'ended') this.end()
    else this.rest()
    for (const line of this.#lines(happening)) this.#options.paper.note(line)
  }

  /** Something else is shown now; text that was begun may go on behind it. */
  rest(): void {
    const { paper, style } = this.#options
    if (this.#part && !this.#rests) {
      paper.text(this.#part.text.pause())
      paper.fresh()
    }
    this.#rests = true
    if (this.#thought) paper.note(style.dim(`· ${shortened(this.#thought.text, 100)}`))
    this.#thought = undefined
  }

  /** What was begun is whole. */
  end(): void {
    const { paper } = this.#options
    if (this.#part) paper.text(this.#part.text.end())
    if (this.#part) paper.fresh()
    this.#part = undefined
    this.rest()
  }

  #say(name: string, piece: string): void {
    if (this.#part?.name !== name) {
      this.end()
      this.#part = { name, text: this.#options.text() }
    }
    this.#rests = false
    this.#options.paper.text(this.#part.text.feed(piece))
  }

  #think(name: string, piece: string): void {
    if (this.#thought?.name !== name) this.end()
    this.#thought = { name, text: (this.#thought?.text ?? '') + piece }
  }

  #lines(happening: Happening): readonly string[] {
    const { style, messages } = this.#options
    switch (happening.kind) {
      case 'began':
        if (happening.again) return [style.dim('· the turn goes on')]
        return messages ? messageLines(happening.turn.message.text, style) : []
      case 'call':
        return callLines(happening.call, style)
      case 'notice':
        return [style.dim(`· ${shortened(happening.text, 200)}`)]
      case 'failed': {
        const { message, errorType } = happening.part.error
        return [style.red(`✗ ${harmless(message === '' ? `The turn failed (${errorType}).` : message)}`)]
      }
      case 'ended':
        return happening.turn.state === 'cancelled' ? [style.yellow('· cancelled')] : []
      case 'waits': {
        const how = happening.as === 'steering' ? 'will steer the turn' : 'waits'
        return messages ? [style.dim(`· ${how}: ${shortened(happening.message.message.text, 200)}`)] : []
      }
      default:
        return []
    }
  }
}

const silent = new Set<string>([
  'streaming',
  'pending-confirmation',
  'pending-result-confirmation',
  'auth-required',
])

function messageLines(text: string, style: Style): readonly string[] {
  const [first = '', ...rest] = harmless(text).split('\n')
  return ['', `${style.cyan('›')} ${style.bold(first)}`, ...rest.map((line) => `  ${line}`)]
}

function callLines(call: ToolCallState, style: Style): readonly string[] {
  const name =
    'invocationMessage' in call ? plain(call.invocationMessage ?? call.displayName) : call.displayName
  if (call.status === 'running') return [style.dim(`· ${shortened(name, 200)}`)]
  if (call.status === 'cancelled') {
    const why = call.reasonMessage === undefined ? '' : `: ${plain(call.reasonMessage)}`
    return [style.yellow(`✗ ${shortened(name, 200)} (${call.reason}${shortened(why, 200)})`)]
  }
  if (call.status !== 'completed') return []
  const done = shortened(plain(call.pastTenseMessage), 200)
  const sign = call.success ? style.green('✓') : style.red('✗')
  return [`${sign} ${done}`, ...resultLines(call.content ?? []).map((line) => style.dim(`  ${line}`))]
}

/** The beginning of what came out of it. */
function resultLines(content: readonly ToolResultContent[]): readonly string[] {
  const texts = content.flatMap((each) => (each.type === 'text' ? [each.text] : []))
  // A terminal shows what was said in words already.
  const shown = content.flatMap((each) => (each.type === 'terminal' ? [each.result?.preview ?? ''] : []))
  const text = (texts.length > 0 ? texts : shown).join('\n').trim()
  if (text === '') return []
  const lines = harmless(text).split('\n')
  const more = lines.length - most
  return [...lines.slice(0, most), ...(more > 0 ? [`… ${more} more lines`] : [])]
}

const most = 8

function plain(text: StringOrMarkdown): string {
  return harmless(typeof text === 'string' ? text : text.markdown)
}

function shortened(text: string, most: number): string {
  const line = harmless(text).replaceAll(/\s+/g, ' ').trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}
