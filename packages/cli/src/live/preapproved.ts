import type { Client } from '@atrium/client/client'
import { choices } from '@atrium/host/access/choices'
import { approvalInAdvance } from '../render/approval-choices.ts'
import { requestKeyOf } from '../session/pending-requests.ts'
import type { Request } from '../session/pending-requests.ts'
import { isSensitive } from './requests.ts'

/**
 * The approvals that `--allow` gives in advance. They cover tool calls: each call once, or a tool for the whole session. They
 * also cover the results of calls. Forms and sign-ins are never answered in advance.
 */
export class Preapproved {
  readonly #client: Client
  readonly #scope: 'once' | 'session'
  readonly #changed: () => void
  /** For each request that was handled, by its key: whether it was approved. */
  readonly #decided = new Map<string, boolean>()
  /** Tools that were approved for the session. */
  readonly #tools = new Set<string>()

  constructor(client: Client, scope: 'once' | 'session', changed: () => void) {
    this.#client = client
    this.#scope = scope
    this.#changed = changed
  }

  /** Answers a request if `--allow` covers it. Returns false for a request that the user must answer. */
  answer(request: Request): boolean {
    if (request.kind !== 'toolConfirmation' || isSensitive(request.toolCall)) return false
    const key = requestKeyOf(request)
    const before = this.#decided.get(key)
    if (before !== undefined) return before
    const { toolCall } = request
    // If a tool was approved for the session and asks again, it wants more than that approval covers: the user must
    // decide.
    const isResult = toolCall.status === 'pending-result-confirmation'
    const approved = isResult || !this.#tools.has(toolCall.toolName)
    this.#decided.set(key, approved)
    if (approved) void this.#approve(request)
    // Only the host's own choice "for the session" covers all later calls. An agent's "always" may cover less, so such a
    // tool may ask again.
    const options = 'options' in toolCall ? (toolCall.options ?? []) : []
    if (this.#scope === 'session' && options.some(({ id }) => id === choices.session))
      this.#tools.add(toolCall.toolName)
    return approved
  }

  async #approve(request: Extract<Request, { readonly kind: 'toolConfirmation' }>): Promise<void> {
    const action = approvalInAdvance(request.turnId, request.toolCall, this.#scope)
    const { outcome } = await this.#client.dispatch(request.chat, action)
    if (outcome !== 'refused') return
    this.#decided.set(requestKeyOf(request), false)
    this.#changed()
  }
}
