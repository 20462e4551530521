import type { OutputStream } from './calls/output-stream.ts'
import type { PlanEntry } from './process/schema.ts'

/** The plans of an agent. Each plan is a tool call of the turn. The content of the call is replaced when the plan changes. */
export class Plans {
  readonly #output: OutputStream
  readonly #newId: () => string
  /** The plans, by the agent's plan id. */
  readonly #plans = new Map<string, { readonly id: string; text: string }>()

  constructor(output: OutputStream, newId: () => string) {
    this.#output = output
    this.#newId = newId
  }

  /** Shows the newest version of a plan. If the agent sends both Markdown and entries, the Markdown is shown. */
  show(planId: string, entries: readonly PlanEntry[] | undefined, markdown?: string): void {
    const text = markdown ?? (entries ?? []).map(entryLine).join('\n')
    const known = this.#plans.get(planId)
    if (known?.text === text) return
    const plan = known ?? { id: this.#newId(), text }
    plan.text = text
    this.#plans.set(planId, plan)
    const { id: toolCallId } = plan
    if (!known) {
      this.#output.write({ type: 'chat/toolCallStart', toolCallId, toolName: 'plan', displayName: 'Plan' })
      this.#output.write({
        type: 'chat/toolCallReady',
        toolCallId,
        invocationMessage: 'Plan',
        confirmed: 'not-needed',
      })
    }
    this.#output.write({ type: 'chat/toolCallContentChanged', toolCallId, content: [{ type: 'text', text }] })
  }

  /** Completes all plans with their last content, at the end of the turn. */
  complete(): void {
    for (const { id: toolCallId, text } of this.#plans.values()) {
      const result = { success: true, pastTenseMessage: 'Plan', content: [{ type: 'text', text } as const] }
      this.#output.write({ type: 'chat/toolCallComplete', toolCallId, result })
    }
    this.#plans.clear()
  }
}

function entryLine({ content = '', status }: PlanEntry): string {
  const box = status === 'completed' ? 'x' : ' '
  return `- [${box}] ${status === 'in_progress' ? `**${content}**` : content}`
}
