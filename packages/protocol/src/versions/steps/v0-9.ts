import type { AutomationAction } from '../../automation/actions.ts'
import type { AutomationDefinitionChanges, AutomationEntry, AutomationState } from '../../automation/state.ts'
import type { Action } from '../../channel.ts'
import { withTurnChangesets } from '../../changeset/catalogue.ts'
import type { kinds } from '../../channels.ts'
import type { KindName } from '../../reducers.ts'
import type { ChatState, ChatSummary } from '../../chat/state.ts'
import type { Method, NotificationMethod, NotificationParams, Result } from '../../commands.ts'
import type { ConfigPropertySchema, ConfigSchema } from '../../common/config.ts'
import { functionMap } from '../../function-map.ts'
import type { RootAction } from '../../root/actions.ts'
import type { AgentInfo, RootState, SessionModelInfo } from '../../root/state.ts'
import type { TypeOf } from '../../schema.ts'
import type { SessionAction } from '../../session/actions.ts'
import type { ChildCustomization, Customization, McpServerState } from '../../session/customization.ts'
import type { SessionActiveClient, SessionState, SessionSummary } from '../../session/state.ts'
import { Flag } from '../../status.ts'
import { mapped, within, without } from '../../update.ts'
import { knownIn, knows } from '../known.ts'
import type { Lens } from '../lens.ts'

/** Everything that 1.0 added is optional, so a 0.9 peer gets the same values without the additions. */
const states: { readonly [K in KindName]?: (state: TypeOf<(typeof kinds)[K]['state']>) => object } = {
  root: rootDown,
  session: sessionDown,
  chat: chatStateDown,
  automation: (state: AutomationState) => within(state, 'entries', each(entryDown)),
  // 0.9 has no canvases, so every canvas has the same empty state.
  canvas: () => noCanvas,
}
const noCanvas = Object.freeze({})

type Rows<A extends Action> = {
  readonly [T in A['type']]?: (action: Extract<A, { readonly type: T }>) => readonly Action[]
}

const rootRows: Rows<RootAction> = {
  'root/agentsChanged': (action) => [within(action, 'agents', each(agentDown))],
}

const sessionRows: Rows<SessionAction> = {
  'session/chatAdded': (action) => [within(action, 'summary', chatDown)],
  'session/chatUpdated': (action) => {
    const left = unlessEmptied(action, within(action, 'changes', chatDown))
    return left ? [left] : []
  },
  'session/activeClientSet': (action) => [within(action, 'activeClient', activeClientDown)],
  'session/customizationsChanged': (action) => [within(action, 'customizations', each(customizationDown))],
  'session/customizationUpdated': (action) => [within(action, 'customization', customizationDown)],
  'session/mcpServerStateChanged': (action) => [within(action, 'state', serverDown)],
  'session/changesetsChanged': (action) => [within(action, 'changesets', withTurnChangesets)],
}

const automationRows: Rows<AutomationAction> = {
  'automation/createRequested': (action) => [within(action, 'definition', definitionDown)],
  'automation/updateRequested': (action) => [within(action, 'changes', definitionDown)],
  'automation/set': (action) => [within(action, 'automation', entryDown)],
}

const results: { readonly [M in Method]?: (result: Result<M>) => Result<M> } = {
  initialize: (result) =>
    within(result, 'automations', (capabilities) => without(capabilities, 'customizations')),
  listSessions: (result) => within(result, 'items', each(summaryDown)),
  resolveSessionConfig: configDown,
  listAutomationTriggerDefinitions: (result) => within(result, 'items', each(configurableDown)),
}

const notifications: {
  readonly [M in NotificationMethod]?: (params: NotificationParams<M>) => object | undefined
} = {
  'root/sessionAdded': (params) => within(params, 'summary', summaryDown),
  'root/sessionSummaryChanged': (params) => unlessEmptied(params, within(params, 'changes', summaryDown)),
}

type Down = (value: unknown) => object | undefined
type ActionDown = (action: Action) => readonly Action[]

const stateOf = functionMap<Down>(states)
const resultOf = functionMap<Down>(results)
const notificationOf = functionMap<Down>(notifications)
// Actions that 0.9 does not have become no action at all.
const actionsOf = new Map<string, ActionDown>([
  ...[...knownIn('1.0.0')].filter((name) => !knows('0.9.0', name)).map((name) => [name, () => []] as const),
  ...functionMap<ActionDown>({ ...rootRows, ...sessionRows, ...automationRows }),
])

export const v09 = {
  version: '0.9.0',
  stateDown: (kind: KindName, state: object) => stateOf.get(kind)?.(state) ?? state,
  actionDown: (_: KindName, action: Action) => actionsOf.get(action.type)?.(action) ?? [action],
  leaves: (type: string) => !actionsOf.has(type),
  // Released 0.9 clients already use parts of 1.0, so their actions and params are taken unchanged.
  actionUp: (_: KindName, action: Action) => action,
  paramsUp: (_, params) => params,
  knows: (method) => knows('0.9.0', method),
  resultDown: (method, result) => resultOf.get(method)?.(result) ?? result,
  notificationDown: (method, params) => {
    const down = notificationOf.get(method)
    return down ? down(params) : params
  },
} satisfies Lens

// Some of the functions below have a type parameter, because the same optional keys occur in several types. `without`
// and `within` see only the part that these types share. A cast then returns to the full type, which is safe because
// the other keys are untouched.

function rootDown(state: RootState): RootState {
  return within(within(state, 'agents', each(agentDown)), 'config', configDown)
}

function agentDown(agent: AgentInfo): AgentInfo {
  const models = within(agent, 'models', each<SessionModelInfo>(configurableDown))
  return within(models, 'customizations', each(customizationDown))
}

function sessionDown(state: SessionState): SessionState {
  const chats = within(state, 'chats', each<ChatSummary>(chatDown))
  const clients = within(chats, 'activeClients', each(activeClientDown))
  const customizations = within(clients, 'customizations', each(customizationDown))
  // In 0.9 chats have no catalogue of changesets, so the catalogue of the session has the changesets of the default chat's
  // turns.
  return within(within(customizations, 'config', configDown), 'changesets', withTurnChangesets)
}

function activeClientDown(client: SessionActiveClient): SessionActiveClient {
  return within(client, 'customizations', each(customizationDown))
}

interface Nested {
  readonly type: string
  readonly state?: McpServerState
  readonly children?: readonly ChildCustomization[]
}

/**
 * Removes `blocking` from MCP servers at any level. Children of an unknown type may be any JSON. They are searched too,
 * because the reducer searches them.
 */
function customizationDown<C extends Customization | ChildCustomization>(item: C): C {
  const nested: Nested | null = item
  if (nested?.type === 'mcpServer') return within(nested, 'state', serverDown) as Nested & C
  if (!Array.isArray(nested?.children)) return item
  return within(nested, 'children', each(customizationDown)) as Nested & C
}

function serverDown(state: McpServerState): McpServerState {
  return state.kind === 'starting' ? without(state, 'blocking') : state
}

function chatStateDown(state: ChatState): ChatState {
  return without(chatDown(state), 'changesets', 'backgroundWork', 'canvases')
}

/**
 * Removes what 1.0 added to a chat: counts of changes, `movable`, and the flags IsRead and IsArchived of its status.
 * In 0.9 only sessions have these flags.
 */
function chatDown<C extends Partial<ChatSummary>>(chat: C): C {
  const left = without<Partial<ChatSummary>>(chat, 'changes', 'movable')
  return within(left, 'status', (status) => (status & ~(Flag.IsRead | Flag.IsArchived)) >>> 0) as C
}

function summaryDown<S extends Pick<SessionSummary, 'chats' | 'defaultChat'>>(summary: S): S {
  return without<Pick<SessionSummary, 'chats' | 'defaultChat'>>(summary, 'chats', 'defaultChat') as S
}

function entryDown(entry: AutomationEntry): AutomationEntry {
  return within(without(entry, 'runCount', 'customizations'), 'definition', definitionDown)
}

function definitionDown<D extends AutomationDefinitionChanges>(definition: D): D {
  const left = without<AutomationDefinitionChanges>(definition, 'disableConditions')
  return within(left, 'session', (template) => without(template, 'customizations')) as D
}

function configurableDown<C extends { readonly configSchema?: ConfigSchema }>(item: C): C {
  return within<{ readonly configSchema?: ConfigSchema }, 'configSchema'>(
    item,
    'configSchema',
    schemaDown,
  ) as C
}

function configDown<C extends { readonly schema: ConfigSchema }>(config: C): C {
  return within<{ readonly schema: ConfigSchema }, 'schema'>(config, 'schema', schemaDown) as C
}

function schemaDown(schema: ConfigSchema): ConfigSchema {
  return within(schema, 'properties', eachValue(propertyDown))
}

function propertyDown(property: ConfigPropertySchema): ConfigPropertySchema {
  const left = without(property, 'minItems', 'maxItems')
  const items = within(within(left, 'items', propertyDown), 'additionalProperties', propertyDown)
  return within(items, 'properties', eachValue(propertyDown))
}

function each<T>(down: (item: T) => T): (list: readonly T[]) => readonly T[] {
  return (list) => mapped(list, down)
}

type Dictionary<T> = { readonly [key: string]: T }

function eachValue<T>(down: (item: T) => T): (items: Dictionary<T>) => Dictionary<T> {
  return (items) => {
    const next = Object.entries(items).map(([key, item]) => [key, down(item)] as const)
    return next.every(([key, item]) => item === items[key]) ? items : Object.fromEntries(next)
  }
}

/** Returns `undefined` if the translation removed all changes. Changes that were empty before are kept. */
function unlessEmptied<T extends { readonly changes: object }>(before: T, after: T): T | undefined {
  return after !== before && Object.keys(after.changes).length === 0 ? undefined : after
}
