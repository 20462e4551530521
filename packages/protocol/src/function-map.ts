/**
 * A table of functions as a Map, for look-ups by a name from the wire: in a Map, `constructor` is as unknown as any
 * other name. `F` is the common call type. Each function accepts only the values that belong to its own name, which the
 * compiler cannot check after the look-up; hence the cast. Callers look a function up by the name of the value they pass.
 */
export function functionMap<F>(table: object): ReadonlyMap<string, F> {
  return new Map(Object.entries(table) as [string, F][])
}
