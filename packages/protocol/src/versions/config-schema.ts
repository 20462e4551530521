import { isJsonObject } from '../json.ts'
import { at, each, eachValue, inOrder, listOf, objectChange, put, shapeOf } from './shape.ts'
import type { Shape } from './shape.ts'

type ShapeChange = (value: Shape) => Shape

/**
 * Applies one change to every property of a config schema, at any depth. Each member does so for one kind of object
 * on the wire that holds such schemas.
 */
export interface SchemaLens {
  /** For the state of the root channel: its own config and the config of its models. */
  readonly root: ShapeChange
  /** For one agent of the root state. */
  readonly agent: ShapeChange
  /** For an object whose key `config` holds a schema, such as the state of a session. */
  readonly configured: ShapeChange
  /** For an object with the key `schema`. */
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

/** Whether some choices of a setting are not texts. */
function hasOtherChoices(property: Shape): boolean {
  return listOf(property, 'enum').some((choice) => typeof choice !== 'string')
}

/** Returns the setting with its choices and its default as texts. */
export function textChoices(property: Shape): Shape {
  if (!hasOtherChoices(property)) return property
  const texts = at(property, 'enum', (choices) => (Array.isArray(choices) ? choices.map(String) : choices))
  return at(texts, 'default', (value) => textOfChoice(property, value))
}

/** Returns the text of a choice. Any other value is returned unchanged. */
function textOfChoice(property: Shape, value: unknown): unknown {
  return listOf(property, 'enum').includes(value) ? String(value) : value
}

/**
 * Returns the choice that a text stands for. A text that is itself a choice, or that stands for none, is returned
 * unchanged.
 */
function choiceOfText(property: Shape, value: unknown): unknown {
  const choices = listOf(property, 'enum')
  if (typeof value !== 'string' || choices.includes(value)) return value
  const meant = choices.find((choice) => String(choice) === value)
  return meant === undefined ? value : meant
}

/**
 * Replaces the choices that are not texts by their texts, in the values of settings. `schema` has the original
 * choices.
 */
export function valuesDown(schema: unknown, values: unknown): unknown {
  return valuesChanged(schema, values, textOfChoice)
}

/** Replaces texts by the choices that they stand for, in the values of settings. */
export function valuesUp(schema: unknown, values: unknown): unknown {
  return valuesChanged(schema, values, choiceOfText)
}

type ValueChange = (property: Shape, value: unknown) => unknown

function valuesChanged(schema: unknown, values: unknown, change: ValueChange): unknown {
  if (!isJsonObject(values)) return values
  const properties = shapeOf(shapeOf(schema)['properties'])
  const changed = Object.entries(values).map(([key, value]) => {
    const property = Object.hasOwn(properties, key) ? shapeOf(properties[key]) : {}
    return [key, valueChanged(property, value, change)] as const
  })
  return put(values, Object.fromEntries(changed))
}

/**
 * Changes a value if its setting has choices that are not texts. Changes each item of a list if the items of the setting have
 * such choices.
 */
function valueChanged(property: Shape, value: unknown, change: ValueChange): unknown {
  if (hasOtherChoices(property)) return change(property, value)
  const items = shapeOf(property['items'])
  if (!Array.isArray(value) || !hasOtherChoices(items)) return value
  const next = value.map((item: unknown) => change(items, item))
  return next.every((item, i) => item === value[i]) ? value : next
}

/**
 * Whether `valuesDown` would change none of the values, whatever the schema: no value can be a choice that is not a
 * text.
 */
export function areTexts(values: unknown): boolean {
  return Object.values(shapeOf(values)).every((value) =>
    Array.isArray(value) ? value.every(isNoChoice) : isNoChoice(value),
  )
}

function isNoChoice(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}
