import { at, each, eachValue, inOrder, objectChange } from './shape.ts'
import type { Shape } from './shape.ts'

type ShapeChange = (value: Shape) => Shape

/** The places of config schemas on the wire, with a change of every property of such a schema, at any depth. */
export interface SchemaLens {
  /** The state of the root channel, with its own config and the config of its models. */
  readonly root: ShapeChange
  /** An agent of the root state, for `each`. */
  readonly agent: ShapeChange
  /** An object whose key `config` holds a schema, as the state of a session has it. */
  readonly configured: ShapeChange
  /** An object with the key `schema`. */
  readonly withSchema: ShapeChange
}

export function schemaLens(change: ShapeChange): SchemaLens {
  const property: ShapeChange = (value) =>
    inOrder(
      change,
      (item) => at(item, 'items', objectChange(property)),
      (item) => at(item, 'additionalProperties', objectChange(property)),
      (item) => at(item, 'properties', eachValue(property)),
    )(value)
  const schema = objectChange((value) => at(value, 'properties', eachValue(property)))
  const withSchema: ShapeChange = (value) => at(value, 'schema', schema)
  const agent: ShapeChange = (value) =>
    at(
      value,
      'models',
      each((model) => at(model, 'configSchema', schema)),
    )
  const configured: ShapeChange = (value) => at(value, 'config', objectChange(withSchema))
  return {
    root: inOrder(configured, (state) => at(state, 'agents', each(agent))),
    agent,
    configured,
    withSchema,
  }
}
