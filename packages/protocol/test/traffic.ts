import fc from 'fast-check'
import { shapeName } from '../src/action.ts'
import type { Action } from '../src/channel.ts'
import { kinds } from '../src/channels.ts'
import type { KindName } from '../src/reducers.ts'
import { definitions, valueOf } from './arbitrary.ts'

/** Random states and actions of a kind that have to do with each other: all ids are one of a few. */
export const kindNames = Object.keys(kinds) as readonly KindName[]

/** Deep enough for a server inside a plugin of a session. */
const deep = 6
const ids = fc.constantFrom('a', 'b', 'c')
const often = {
  McpServerState: ['McpServerStarting', 'McpServerStarting'],
  Customization: ['McpServerCustomization', 'PluginCustomization', 'DirectoryCustomization'],
  ChildCustomization: ['McpServerCustomization', 'McpServerCustomization'],
}

export function stateOf(kind: KindName): fc.Arbitrary<object> {
  return made(stateName(kind), deep)
}

/** Nothing but what must be there. */
export function birthOf(kind: KindName): fc.Arbitrary<object> {
  return made(stateName(kind), 0)
}

export function actionOf(kind: KindName): fc.Arbitrary<Action> {
  const shapes = [...kinds[kind].actions.keys()].flatMap(shapesOf)
  return fc.constantFrom(...shapes).chain((name) => made(name, deep) as fc.Arbitrary<Action>)
}

/** The shapes an action may have: one, or two forms of it. */
export function shapesOf(type: string): readonly string[] {
  const name = shapeName(type)
  return [name, `${name}Approved`, `${name}Denied`].filter((form) => form in definitions)
}

/** Some actions again and again, in any order. */
export function scriptOf(kind: KindName): fc.Arbitrary<readonly Action[]> {
  return fc
    .array(actionOf(kind), { minLength: 3, maxLength: 12, size: 'max' })
    .chain((actions) => fc.array(fc.constantFrom(...actions), { maxLength: 80, size: 'max' }))
}

function made(name: string, deep: number): fc.Arbitrary<object> {
  // A state is its own JSON, which has no -0.
  return valueOf(name, { deep, ids, often }).map((value) => JSON.parse(JSON.stringify(value)) as object)
}

export function stateName(kind: KindName): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}State`
}
