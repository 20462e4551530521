import type { Client } from '@atrium/client/client'
import { choices } from '@atrium/host/access/choices'
import { isSensitive } from './requests.ts'
import type { Ask } from './requests.ts'
import { agreement } from '../render/approval.ts'

/** What somebody agreed to before anything was asked: tools, each time or for the session; no form, and no sign-in. */
export class Beforehand {
  readonly #client: Client
  readonly #reach: 'once' | 'session'
  readonly #changed: () => void
  /** By the id of what was asked: whether it was agreed to. */
  readonly #decided = new Map<string, boolean>()
  /** Tools that were allowed for the session. */
  readonly #allowed = new Set<string>()

  constructor(client: Client, reach: 'once' | 'session', changed: () => void) {
    this.#client = client
    this.#reach = reach
    this.#changed = changed
  }

  /** Whether a question is answered by that; if so, it is. */
  agrees(ask: Ask): boolean {
    // What changes how the agent is held is left to a person.
    if (ask.kind !== 'toolConfirmation' || isSensitive(ask.toolCall)) return false
    const before = this.#decided.get(ask.id)
    if (before !== undefined) return before
    const { toolName } = ask.toolCall
    // What was allowed for the session, and asks all the same, asks for more than that.
    const agrees = !this.#allowed.has(toolName)
    this.#decided.set(ask.id, agrees)
    if (agrees) void this.#say(ask)
    // An agent's own "always" may mean less: then it asks again, for something else.
    const { options = [] } = ask.toolCall as { readonly options?: readonly { readonly id: string }[] }
    if (this.#reach === 'session' && options.some(({ id }) => id === choices.session))
      this.#allowed.add(toolName)
    return agrees
  }

  async #say(ask: Extract<Ask, { readonly kind: 'toolConfirmation' }>): Promise<void> {
    const said = await this.#client.dispatch(ask.chat, agreement(ask.turnId, ask.toolCall, this.#reach))
    if (said.outcome !== 'refused') return
    this.#decided.set(ask.id, false)
    this.#changed()
  }
}
