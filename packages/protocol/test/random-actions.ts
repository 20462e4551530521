import fc from 'fast-check'
import { shapeName } from '../src/action.ts'
import type { Action } from '../src/channel.ts'
import { kinds } from '../src/channels.ts'
import type { KindName } from '../src/reducers.ts'
import { definitions, valueOf } from './arbitrary.ts'

// Random states and actions for the tests of the lenses. All ids come from a small set, so that actions often name
// things that exist in the state.

export const kindNames = Object.keys(kinds) as readonly KindName[]

const ids = fc.constantFrom('a', 'b', 'c')
const often = {
  McpServerState: ['McpServerStarting', 'McpServerStarting'],
  Customization: ['McpServerCustomization', 'PluginCustomization', 'DirectoryCustomization'],
  ChildCustomization: ['McpServerCustomization', 'McpServerCustomization'],
}

/** Levels of nesting: enough for an MCP server inside a plugin of a session. */
const deep = { deep: 6, ids, often }
/** Required keys only. */
const flat = { deep: 0, ids, often }

export function stateOf(kind: KindName): fc.Arbitrary<object> {
  return made(stateName(kind), deep)
}

/** A state with its required keys only. */
export function newStateOf(kind: KindName): fc.Arbitrary<object> {
  return made(stateName(kind), flat)
}

export function actionOf(kind: KindName): fc.Arbitrary<Action> {
  return fc.constantFrom(...kinds[kind].actions.keys()).chain(actionOfType)
}

export function actionOfType(type: string): fc.Arbitrary<Action> {
  return fc.constantFrom(...shapesOf(type)).chain((name) => made(name, deep) as fc.Arbitrary<Action>)
}

/** The schema names of an action: one, or two for an action with an approved and a denied form. */
export function shapesOf(type: string): readonly string[] {
  const name = shapeName(type)
  return [name, `${name}Approved`, `${name}Denied`].filter((form) => form in definitions)
}

/** A random sequence in which a few actions are repeated. */
export function scriptOf(kind: KindName): fc.Arbitrary<readonly Action[]> {
  return fc
    .array(actionOf(kind), { minLength: 3, maxLength: 12, size: 'max' })
    .chain((actions) => fc.array(fc.constantFrom(...actions), { maxLength: 80, size: 'max' }))
}

function made(name: string, options: typeof deep): fc.Arbitrary<object> {
  // Converting the value to JSON and back turns -0 into 0.
  return valueOf(name, options).map((value) => JSON.parse(JSON.stringify(value)) as object)
}

export function stateName(kind: KindName): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}State`
}
