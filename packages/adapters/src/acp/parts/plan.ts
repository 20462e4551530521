import type { OutputStream } from '../calls/output-stream.ts'
import { stepOf } from '@atrium/protocol/chat/plan'
import type { PlanStep } from '@atrium/protocol/chat/plan'
import type { PlanEntry } from '../process/schema.ts'

/**
 * The plans of an agent. Each plan is a tool call of the turn. The content of the call is Markdown, and its `_meta` has the
 * steps for clients that draw them. Both are replaced when the plan changes.
 */
export class Plans {
  readonly #output: OutputStream
  readonly #newId: () => string
  /** The plans, by the agent's plan id. */
  readonly #plans = new Map<string, Plan>()

  constructor(output: OutputStream, newId: () => string) {
    this.#output = output
    this.#newId = newId
  }

  /** Shows the newest version of a plan. If the agent sends both Markdown and entries, the Markdown is shown. */
  show(planId: string, entries: readonly PlanEntry[] | undefined, markdown?: string): void {
    const text = markdown ?? (entries ?? []).map(entryLine).join('\n')
    const known = this.#plans.get(planId)
    if (known?.text === text) return
    const toolCallId = known?.id ?? this.#newId()
    const steps = markdown === undefined ? (entries ?? []).map(stepOf) : []
    this.#plans.set(planId, { id: toolCallId, text, steps })
    if (!known) {
      this.#output.write({ type: 'chat/toolCallStart', toolCallId, toolName: 'plan', displayName: 'Plan' })
      this.#output.write({
        type: 'chat/toolCallReady',
        toolCallId,
        invocationMessage: 'Plan',
        confirmed: 'not-needed',
      })
    }
    const content = [{ type: 'text', text } as const]
    const type = 'chat/toolCallContentChanged'
    this.#output.write({ type, toolCallId, content, _meta: metaOf(steps, text) })
  }

  /** Completes all plans with their last content, at the end of the turn. */
  complete(): void {
    for (const plan of this.#plans.values()) {
      const { length } = plan.steps
      const done = plan.steps.filter(({ status }) => status === 'completed').length
      this.#end(plan, length === 0 ? 'Plan' : `Plan: ${done} of ${length} done`)
    }
    this.#plans.clear()
  }

  /** Completes a plan that the agent has withdrawn. */
  remove(planId: string): void {
    const plan = this.#plans.get(planId)
    if (plan) this.#end(plan, 'Plan, withdrawn')
    this.#plans.delete(planId)
  }

  #end({ id: toolCallId, text }: Plan, pastTenseMessage: string): void {
    const result = { success: true, pastTenseMessage, content: [{ type: 'text', text } as const] }
    this.#output.write({ type: 'chat/toolCallComplete', toolCallId, result })
  }
}

interface Plan {
  readonly id: string
  readonly text: string
  /** The steps of the plan. None if the agent has sent it as Markdown. */
  readonly steps: readonly PlanStep[]
}

/** The longest plan whose steps are also sent one by one, in characters. Clients show a longer one as Markdown. */
const longestPlan = 20_000

function metaOf(steps: readonly PlanStep[], { length }: string) {
  return { 'x-atrium': { plan: length > longestPlan ? {} : { steps } } }
}

function entryLine({ content = '', status }: PlanEntry): string {
  const box = status === 'completed' ? 'x' : ' '
  return `- [${box}] ${status === 'in_progress' ? `**${content}**` : content}`
}
