import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Action } from '../src/channel.ts'
import type { Reduce } from '../src/reduce.ts'
import { reducers } from '../src/reducers.ts'
import type { KindName } from '../src/reducers.ts'
import { definitions } from './arbitrary.ts'

/**
 * What a 0.9 peer does and takes. From 0.9 to 1.0 the reducers only got more cases, so the older ones are today's without
 * those. Both lists are written by hand: what the lens believes is not asked.
 */
const later = new Set([
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

const laterKeys: { readonly [shape: string]: readonly string[] } = {
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
/** Nothing sets these bits of a chat at 0.9. */
const laterBits: { readonly [shape: string]: number } = {
  ChatState: 32 | 64,
  ChatSummary: 32 | 64,
  PartialChatSummary: 32 | 64,
}

export function reduce(kind: KindName, state: object, action: Action): object {
  return knows(action.type) ? (reducers[kind] as Reduce<object>)(state, action) : state
}

export function knows(type: string): boolean {
  return !later.has(type)
}

/** What is wrong with a value of a shape, for a 0.9 peer. */
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
  ...(shape in laterBits && {
    status: { ...definitions[shape]?.properties?.['status'], noBits: laterBits[shape] },
  }),
  ...Object.fromEntries((laterKeys[shape] ?? []).map((key) => [key, false])),
})
const changed = Object.keys(laterKeys).map((shape) => [
  shape,
  { ...definitions[shape], properties: properties(shape) },
])
ajv.addSchema({ $defs: { ...definitions, ...Object.fromEntries(changed) } }, 'v0-9')
