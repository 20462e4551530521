import type { Client } from '@atrium/client/client'
import type { Action } from '@atrium/protocol/channel'

/** The actions that a client received, as lines for people to read. */
export class Transcript {
  readonly #lines: { readonly at: number; readonly what: string; text: string }[] = []
  readonly #since = performance.now()

  constructor(client: Client) {
    client.onAction(({ action, rejectionReason }) => {
      if (rejectionReason === undefined) this.#received(action as ReadableAction)
    })
    client.onLink(({ state }) => {
      const what = `(the link is ${state})`
      if (this.#lines.at(-1)?.what !== what) this.#add(what, '')
    })
  }

  lines(): readonly string[] {
    return this.#lines.map(({ at, what, text }) => {
      const seconds = (at / 1000).toFixed(2).padStart(7)
      return `${seconds} s  ${what.padEnd(27)} ${shortened(text)}`.trimEnd()
    })
  }

  #received(action: ReadableAction): void {
    const last = this.#lines.at(-1)
    const { type, content } = action
    // Consecutive text deltas become one line.
    if (typeof content === 'string' && last?.what === type) last.text += content
    else this.#add(type, textOf(action))
  }

  #add(what: string, text: string): void {
    this.#lines.push({ at: performance.now() - this.#since, what, text })
  }
}

/** The fields of an action that are worth reading. */
interface ReadableAction extends Action {
  readonly content?: unknown
  readonly message?: { readonly text: string }
  readonly part?: { readonly content?: unknown; readonly error?: { readonly message: string } }
  readonly invocationMessage?: unknown
  readonly options?: readonly { readonly label: string }[]
  readonly result?: {
    readonly success: boolean
    readonly pastTenseMessage: unknown
    readonly content?: unknown
  }
}

function textOf(action: ReadableAction): string {
  const { content, message, part, invocationMessage, options = [], result } = action
  if (typeof content === 'string') return content
  if (message) return message.text
  if (part) return asText(part.error?.message ?? part.content ?? part)
  if (result) {
    const how = result.success ? 'done' : 'failed'
    return `${how}: ${asText(result.pastTenseMessage)} ${asText(result.content ?? '')}`
  }
  const choices = options.length === 0 ? '' : ` [${options.map(({ label }) => label).join(' | ')}]`
  if (invocationMessage !== undefined) return `${asText(invocationMessage)}${choices}`
  const { type: _, turnId: __, ...rest } = action as ReadableAction & { readonly turnId?: unknown }
  return asText(rest)
}

function asText(words: unknown): string {
  return typeof words === 'string' ? words : JSON.stringify(words)
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 110)} … ${line.slice(-45)}` : line
}
