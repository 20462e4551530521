import type { Voice } from './output-stream.ts'
import type { PlanEntry } from './process/schema.ts'

/** An agent's plans: each is one part of the turn, changed in its place as the agent goes on. */
export class Plans {
  readonly #voice: Voice
  readonly #newId: () => string
  /** By the agent's name for the plan. */
  readonly #plans = new Map<string, { readonly id: string; text: string }>()

  constructor(voice: Voice, newId: () => string) {
    this.#voice = voice
    this.#newId = newId
  }

  show(name: string, entries: readonly PlanEntry[] | undefined, markdown?: string): void {
    const text = markdown ?? (entries ?? []).map(line).join('\n')
    const known = this.#plans.get(name)
    if (known?.text === text) return
    const plan = known ?? { id: this.#newId(), text }
    plan.text = text
    this.#plans.set(name, plan)
    const { id: toolCallId } = plan
    if (!known) {
      this.#voice.say({ type: 'chat/toolCallStart', toolCallId, toolName: 'plan', displayName: 'Plan' })
      this.#voice.say({
        type: 'chat/toolCallReady',
        toolCallId,
        invocationMessage: 'Plan',
        confirmed: 'not-needed',
      })
    }
    this.#voice.say({ type: 'chat/toolCallContentChanged', toolCallId, content: [{ type: 'text', text }] })
  }

  /** The turn ends, and its plans stay as they are. */
  close(): void {
    for (const { id: toolCallId, text } of this.#plans.values()) {
      const result = { success: true, pastTenseMessage: 'Plan', content: [{ type: 'text', text } as const] }
      this.#voice.say({ type: 'chat/toolCallComplete', toolCallId, result })
    }
    this.#plans.clear()
  }
}

function line({ content = '', status }: PlanEntry): string {
  const box = status === 'completed' ? 'x' : ' '
  return `- [${box}] ${status === 'in_progress' ? `**${content}**` : content}`
}
