/**
 * Returns a table of functions as a Map, for look-ups by a name from the wire: in a Map, `constructor` is as unknown
 * as any other name. `F` is the common type of the functions. Each function accepts only the values of its own name.
 * The compiler cannot check this after the look-up, so the table is cast to `F`. A caller must look a function up by
 * the name of the value that it passes.
 */
export function functionMap<F>(table: object): ReadonlyMap<string, F> {
  return new Map(Object.entries(table) as [string, F][])
}
