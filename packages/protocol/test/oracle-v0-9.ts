import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Action } from '../src/channel.ts'
import type { KindName } from '../src/reducers.ts'
import { definitions } from './arbitrary.ts'
import { reducerOf } from './cases.ts'

/**
 * The behaviour of a 0.9 peer: its reducers, and the values it accepts. From 0.9 to 1.0 the reducers only gained cases,
 * so the older reducers are the present ones without these cases. The lists are written by hand and do not use the code
 * of the lens, which they test.
 */
const addedActions = new Set([
  'session/chatsReordered',
  'session/mcpServerBackgroundRequested',
  'chat/isReadChanged',
  'chat/isArchivedChanged',
  'chat/movableChanged',
  'chat/changesetsChanged',
  'chat/backgroundWorkSet',
  'chat/backgroundWorkRemoved',
  'chat/canvasesChanged',
  'canvas/stateChanged',
])

const addedKeys: { readonly [shape: string]: readonly string[] } = {
  ChatState: ['changes', 'movable', 'changesets', 'backgroundWork', 'canvases'],
  ChatSummary: ['changes', 'movable'],
  PartialChatSummary: ['changes', 'movable'],
  SessionSummary: ['chats', 'defaultChat'],
  PartialSessionSummary: ['chats', 'defaultChat'],
  McpServerStarting: ['blocking'],
  ConfigPropertySchema: ['minItems', 'maxItems'],
  SessionConfigPropertySchema: ['minItems', 'maxItems'],
  AutomationDefinition: ['disableConditions'],
  AutomationDefinitionPatch: ['disableConditions'],
  AutomationSessionTemplate: ['customizations'],
  AutomationEntry: ['runCount', 'customizations'],
  AutomationCapabilities: ['customizations'],
}
/** The status bits that are never set on a chat in 0.9. */
const addedBits: { readonly [shape: string]: number } = {
  ChatState: 32 | 64,
  ChatSummary: 32 | 64,
  PartialChatSummary: 32 | 64,
}

export function reduce(kind: KindName, state: object, action: Action): object {
  return knows(action.type) ? reducerOf(kind)(state, action) : state
}

export function knows(type: string): boolean {
  return !addedActions.has(type)
}

/** The reason why a 0.9 peer would refuse a value of a shape, or `undefined`. */
export function problemOf(shape: string, value: unknown): string | undefined {
  const validate = ajv.getSchema(`v0-9#/$defs/${shape}`)
  if (!validate) throw new Error(`no shape ${shape}`)
  return validate(value) === true ? undefined : ajv.errorsText(validate.errors)
}

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
ajv.addKeyword({
  keyword: 'noBits',
  type: 'number',
  validate: (bits: number, value: number) => (value & bits) === 0,
})
const properties = (shape: string) => ({
  ...definitions[shape]?.properties,
  ...(shape in addedBits && {
    status: { ...definitions[shape]?.properties?.['status'], noBits: addedBits[shape] },
  }),
  ...Object.fromEntries((addedKeys[shape] ?? []).map((key) => [key, false])),
})
const changed = Object.keys(addedKeys).map((shape) => [
  shape,
  { ...definitions[shape], properties: properties(shape) },
])
ajv.addSchema({ $defs: { ...definitions, ...Object.fromEntries(changed) } }, 'v0-9')
