import type { AutomationAction } from '../automation/actions.ts'
import type { AutomationDefinitionChanges, AutomationEntry, AutomationState } from '../automation/state.ts'
import type { Action } from '../channel.ts'
import type { kinds } from '../channels.ts'
import type { KindName } from '../reducers.ts'
import type { ChatState, ChatSummary } from '../chat/state.ts'
import type { Method, NoteMethod, NoteParams, Result } from '../commands.ts'
import type { ConfigPropertySchema, ConfigSchema } from '../common/config.ts'
import type { RootAction } from '../root/actions.ts'
import type { AgentInfo, RootState, SessionModelInfo } from '../root/state.ts'
import type { TypeOf } from '../schema.ts'
import type { SessionAction } from '../session/actions.ts'
import type { ChildCustomization, Customization, McpServerState } from '../session/customization.ts'
import type { SessionActiveClient, SessionState, SessionSummary } from '../session/state.ts'
import { Flag } from '../status.ts'
import { mapped, within, without } from '../update.ts'
import { knownIn, knows } from './known.ts'
import type { Lens } from './lens.ts'

/** All that 1.0 added may be absent, so a 0.9 peer is told the same with less in it. */
const states: { readonly [K in KindName]?: (state: TypeOf<(typeof kinds)[K]['state']>) => object } = {
  root: rootDown,
  session: sessionDown,
  chat: chatStateDown,
  automation: (state: AutomationState) => within(state, 'entries', each(entryDown)),
  // 0.9 has no canvases: all of them look the same from there.
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

const notes: { readonly [M in NoteMethod]?: (params: NoteParams<M>) => object | undefined } = {
  'root/sessionAdded': (params) => within(params, 'summary', summaryDown),
  'root/sessionSummaryChanged': (params) => unlessEmptied(params, within(params, 'changes', summaryDown)),
}

type Down = (value: unknown) => object | undefined

const stateOf = new Map(Object.entries(states) as [string, Down][])
const resultOf = new Map(Object.entries(results) as [string, Down][])
const noteOf = new Map(Object.entries(notes) as [string, Down][])
const actionsOf = new Map([
  ...[...knownIn('1.0.0')].filter((name) => !knows('0.9.0', name)).map((name) => [name, () => []] as const),
  ...(Object.entries({ ...rootRows, ...sessionRows, ...automationRows }) as [string, Say][]),
])
type Say = (action: Action) => readonly Action[]

export const v09: Lens = {
  version: '0.9.0',
  stateDown: (kind, state) => stateOf.get(kind)?.(state) ?? state,
  actionDown: (_, action) => actionsOf.get(action.type)?.(action) ?? [action],
  // Clients in the field speak 0.9 and know much of 1.0: what they say of it, they mean.
  actionUp: (_, action) => action,
  paramsUp: (_, params) => params,
  knows: (method) => knows('0.9.0', method),
  resultDown: (method, result) => resultOf.get(method)?.(result) ?? result,
  noteDown: (method, params) => {
    const down = noteOf.get(method)
    return down ? down(params) : params
  },
}

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
  return within(customizations, 'config', configDown)
}

function activeClientDown(client: SessionActiveClient): SessionActiveClient {
  return within(client, 'customizations', each(customizationDown))
}

interface Nested {
  readonly type: string
  readonly state?: McpServerState
  readonly children?: readonly ChildCustomization[]
}

/** Under an unknown type the children may be anything, and the reducer looks for servers there too. */
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

/** A chat is neither read nor archived at 0.9: only its session is. */
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

/** Changes of which nothing is left need not be told; those that said nothing from the start are let be. */
function unlessEmptied<T extends { readonly changes: object }>(before: T, after: T): T | undefined {
  return after !== before && Object.keys(after.changes).length === 0 ? undefined : after
}
