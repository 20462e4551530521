import { isJsonObject } from '../json.ts'
import { boolean, decode, object, oneOf, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import type { AgentInfo } from './state.ts'

/** The key in `_meta` for the readiness. AHP does not define it, so another host may send any value under it: values are checked. */
const key = 'x-atrium'

const readiness = {
  state: oneOf('ReadinessState', ['ready', 'needs-sign-in', 'broken', 'not-tried']),
  /** A sentence that says what is wrong, and how to repair it. */
  problem: optional(string),
  /** Set for an agent that always works and is no choice for real work. */
  fallback: optional(boolean),
  /** Set for an agent that cannot be made to ask before it acts. */
  actsWithoutAsking: optional(boolean),
  /** Whether the agent takes a steering message into the turn that runs. Absent: not known yet. */
  takesSteering: optional(boolean),
}
/**
 * Whether an agent can work. `ready`: its program has answered, or it needs none. `needs-sign-in`: it lacks a key or a login.
 * `broken`: its program cannot be used. `not-tried`: its program exists, and was never started.
 */
export interface Readiness extends Infer<typeof readiness> {}
const Readiness = object<Readiness>('Readiness', readiness)

/** Adds its readiness to an agent's description. AHP has no member for it. Hosts may add members, and clients ignore them. */
export function withReadiness(info: AgentInfo, readiness: Readiness): AgentInfo {
  const own = { _meta: { [key]: readiness } }
  return { ...info, ...own }
}

/** The readiness in an agent's description. Undefined if its host does not tell. */
export function readinessOf(info: AgentInfo): Readiness | undefined {
  const all = '_meta' in info && isJsonObject(info._meta) ? info._meta : {}
  const decoded = decode(Readiness, all[key])
  return decoded.ok ? decoded.value : undefined
}

/** Whether the agent of a provider takes a message into the turn that runs. Undefined if nobody knows. */
export function takesSteering(
  agents: readonly AgentInfo[] = [],
  provider: string | undefined,
): boolean | undefined {
  const info = agents.find((each) => each.provider === provider)
  return info && readinessOf(info)?.takesSteering
}
