import type { Client } from '@atrium/client/client'
import type { Action } from '@atrium/protocol/channel'

/** What a client was told, for people to read: a line for each thing that happened. */
export class Sights {
  readonly #lines: { readonly at: number; readonly what: string; text: string }[] = []
  readonly #since = performance.now()

  constructor(client: Client) {
    client.onAction(({ action, rejectionReason }) => {
      if (rejectionReason === undefined) this.#saw(action as Seen)
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

  #saw(action: Seen): void {
    const last = this.#lines.at(-1)
    const { type, content } = action
    // Words that come one by one are read together.
    if (typeof content === 'string' && last?.what === type) last.text += content
    else this.#add(type, textOf(action))
  }

  #add(what: string, text: string): void {
    this.#lines.push({ at: performance.now() - this.#since, what, text })
  }
}

/** As much of an action as a person wants to read. */
interface Seen extends Action {
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

function textOf(action: Seen): string {
  const { content, message, part, invocationMessage, options = [], result } = action
  if (typeof content === 'string') return content
  if (message) return message.text
  if (part) return wordsOf(part.error?.message ?? part.content ?? part)
  if (result) {
    const how = result.success ? 'done' : 'failed'
    return `${how}: ${wordsOf(result.pastTenseMessage)} ${wordsOf(result.content ?? '')}`
  }
  const choices = options.length === 0 ? '' : ` [${options.map(({ label }) => label).join(' | ')}]`
  if (invocationMessage !== undefined) return `${wordsOf(invocationMessage)}${choices}`
  const { type: _, turnId: __, ...rest } = action as Seen & { readonly turnId?: unknown }
  return wordsOf(rest)
}

function wordsOf(words: unknown): string {
  return typeof words === 'string' ? words : JSON.stringify(words)
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 110)} … ${line.slice(-45)}` : line
}
