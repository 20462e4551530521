import { readFileSync, readdirSync } from 'node:fs'
import type { Action } from '../src/channel.ts'
import { isJsonObject } from '../src/json.ts'
import type { Reduce } from '../src/reduce.ts'
import { reducers } from '../src/reducers.ts'
import type { KindName } from '../src/reducers.ts'

/** A test case for a reducer: a state, some actions, and the state after them. */
export interface StateCase {
  readonly file: string
  readonly name: string
  readonly reducer: KindName
  readonly initial: object
  readonly actions: readonly Action[]
  readonly expected: object
  /** The reducer must return the same object for every action. */
  readonly same: boolean
  /** A value of the case fails its schema. The case shows that the reducer does not break on it. */
  readonly malformed: boolean
}

interface CaseFile {
  readonly reducer: KindName
  readonly bases: Record<string, object>
  readonly cases: readonly (Pick<StateCase, 'name' | 'actions'> & {
    readonly base?: string
    readonly initial?: object
    readonly changes?: object
    readonly expected?: object
    readonly same?: boolean
    readonly malformed?: boolean
  })[]
}

const folder = new URL('../cases/', import.meta.url)

/** The test cases in the folder `cases/`. */
export function stateCases(): readonly StateCase[] {
  return readdirSync(folder).flatMap((file) => {
    const { reducer, bases, cases } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as CaseFile
    return cases.map((one) => {
      const initial = one.initial ?? bases[one.base ?? '']
      if (!initial) throw new Error(`${file}: "${one.name}" has no state to begin with`)
      const expected = one.expected ?? (mergePatch(initial, one.changes ?? {}) as object)
      const { name, actions, same = false, malformed = false } = one
      return { file, name, reducer, initial, actions, expected, same, malformed }
    })
  })
}

/** The cases that are no malformed ones, by file. One test for each case takes longer than the case. */
export function soundCases(): readonly (readonly [file: string, cases: readonly StateCase[]])[] {
  const all = stateCases().filter(({ malformed }) => !malformed)
  const files = [...new Set(all.map(({ file }) => file))]
  return files.map((file) => [file, all.filter((one) => one.file === file)])
}

/** The reducer of a kind without its state type, for tests that run over all kinds. */
export function reducerOf(kind: KindName): Reduce<object> {
  return reducers[kind] as Reduce<object>
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** RFC 7396: null removes a key, an object merges, anything else replaces. */
function mergePatch(target: unknown, changes: unknown): unknown {
  if (!isJsonObject(changes)) return changes
  const merged: Record<string, unknown> = isJsonObject(target) ? { ...target } : {}
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) delete merged[key]
    else merged[key] = mergePatch(merged[key], change)
  }
  return merged
}
