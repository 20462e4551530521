import type { ToolCallState } from './tool.ts'

const statuses = ['pending', 'in_progress', 'completed'] as const

/** A step of the plan of an agent. */
export interface PlanStep {
  readonly content: string
  readonly status: (typeof statuses)[number]
}

/** The plan of an agent, in `_meta["x-atrium"].plan` of its tool call. Without steps, the content of the call is the plan. */
export interface Plan {
  readonly steps: readonly PlanStep[]
}

/**
 * The plan that a tool call is. Undefined for any other call. It is read without a schema, because pages read it for each call
 * that they draw, and must not load the code of the schemas.
 */
export function planOf({ _meta }: ToolCallState): Plan | undefined {
  const plan = member(member(_meta, 'x-atrium'), 'plan')
  if (typeof plan !== 'object' || plan === null) return undefined
  const steps = member(plan, 'steps')
  return { steps: Array.isArray(steps) ? steps.map(stepOf) : [] }
}

/** A step in the form that clients draw. A status that nobody knows counts as open. */
export function stepOf(step: unknown): PlanStep {
  const content = member(step, 'content')
  const status = statuses.find((each) => each === member(step, 'status')) ?? 'pending'
  return { content: typeof content === 'string' ? content : '', status }
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // The check before makes the cast safe.
  return (value as { readonly [key: string]: unknown })[key]
}
