import { wholeMatcher } from '@atrium/protocol/text/expression'

/** Whether a whole text matches. */
export type Matcher = (text: string) => boolean

/**
 * Compiles the matcher of a hook. Returns undefined for an expression that is not supported. A matcher comes from a plugin,
 * which is not trusted. Therefore it becomes an automaton, whose time is bounded (S-25).
 */
export function matcherOf(expression: string): Matcher | undefined {
  const compiled = wholeMatcher(expression)
  return compiled.ok ? compiled.value : undefined
}
