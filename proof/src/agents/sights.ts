import type { Client } from '@atrium/client/client'
import type { Action } from '@atrium/protocol/channel'

/** What a client was told, for people to read: a line for each thing that happened. */
export class Sights {
  readonly #lines: { readonly at: number; readonly what: string; text: string }[] = []
  readonly #since = performance.now()

  constructor(client: Client) {
    client.onAction(({ action, rejectionReason }) => {
      if (rejectionReason === undefined) this.#saw(action)
    })
    client.onLink(({ state }) => this.#add(`(link ${state})`, ''))
  }

  lines(): readonly string[] {
    return this.#lines.map(({ at, what, text }) => {
      const seconds = (at / 1000).toFixed(2).padStart(7)
      return `${seconds} s  ${what.padEnd(30)} ${shortened(text)}`.trimEnd()
    })
  }

  #saw(action: Action): void {
    const { type, ...rest } = action as Action & { readonly content?: unknown }
    const last = this.#lines.at(-1)
    // Words that come one by one are read together.
    if (grows.has(type) && typeof rest.content === 'string') {
      if (last?.what === type) last.text += rest.content
      else this.#add(type, rest.content)
    } else this.#add(type, JSON.stringify(rest))
  }

  #add(what: string, text: string): void {
    this.#lines.push({ at: performance.now() - this.#since, what, text })
  }
}

const grows: ReadonlySet<string> = new Set(['chat/delta', 'chat/reasoning', 'chat/toolCallDelta'])

function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 160 ? `${line.slice(0, 110)} … ${line.slice(-45)}` : line
}
