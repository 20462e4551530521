import { mcpAuthRequirementShape } from '../common/auth.ts'
import { ErrorInfo, Icon, meta, presence } from '../common/content.ts'
import { TextRange } from '../common/text.ts'
import { array, boolean, id, is, object, openEnum, optional, record, string, variant } from '../schema.ts'
import type { Infer, Schema, TypeOf } from '../schema.ts'

const decision = { enabled: boolean }
export const CustomizationEnablement = variant('CustomizationEnablement', 'kind', {
  session: object('SessionEnablement', { ...decision, kind: is('session') }),
  workspace: object('WorkspaceEnablement', { ...decision, kind: is('workspace'), uri: id }),
  global: object('GlobalEnablement', { ...decision, kind: is('global') }),
})
/** One decision about a customization. Lists of them stand most specific first; the first one counts. */
export type CustomizationEnablement = TypeOf<typeof CustomizationEnablement>

export const CustomizationLoad = variant(
  'CustomizationLoadState',
  'kind',
  {
    loading: object('CustomizationLoading', { kind: is('loading') }),
    loaded: object('CustomizationLoaded', { kind: is('loaded') }),
    degraded: object('CustomizationDegraded', { kind: is('degraded'), message: string }),
    error: object('CustomizationLoadError', { kind: is('error'), message: string }),
  },
  'closed',
)
export type CustomizationLoad = TypeOf<typeof CustomizationLoad>

export const McpServerState = variant('McpServerState', 'kind', {
  starting: object('McpServerStarting', { kind: is('starting'), blocking: optional(boolean) }),
  ready: object('McpServerReady', { kind: is('ready') }),
  authRequired: object('McpServerAuthRequired', { kind: is('authRequired'), ...mcpAuthRequirementShape }),
  error: object('McpServerError', { kind: is('error'), error: ErrorInfo }),
  stopped: object('McpServerStopped', { kind: is('stopped') }),
})
export type McpServerState = TypeOf<typeof McpServerState>

const changing = object('McpListCapability', { listChanged: optional(boolean) })
const sampling = object('McpSamplingCapability', { tools: optional(presence) })
const mcpAppCapabilities = {
  serverTools: optional(changing),
  serverResources: optional(changing),
  logging: optional(presence),
  sampling: optional(sampling),
}
export interface McpAppCapabilities extends Infer<typeof mcpAppCapabilities> {}
export const McpAppCapabilities: Schema<McpAppCapabilities> = object('McpAppCapabilities', mcpAppCapabilities)

const mcpApp = { capabilities: McpAppCapabilities }
export interface McpApp extends Infer<typeof mcpApp> {}
export const McpApp: Schema<McpApp> = object('McpApp', mcpApp)

const base = { id, uri: id, name: string, icons: optional(array(Icon)), range: optional(TextRange), ...meta }
const child = { ...base, enabled: optional(boolean) }
const described = { ...child, description: optional(string) }
const invocable = {
  ...described,
  disableModelInvocation: optional(boolean),
  disableUserInvocation: optional(boolean),
}

const mcpServer = {
  ...base,
  type: is('mcpServer'),
  enablement: optional(array(CustomizationEnablement)),
  state: McpServerState,
  channel: optional(id),
  mcpApp: optional(McpApp),
}
export interface McpServerCustomization extends Infer<typeof mcpServer> {}
export const McpServerCustomization: Schema<McpServerCustomization> = object(
  'McpServerCustomization',
  mcpServer,
)

export const ChildCustomization = variant('ChildCustomization', 'type', {
  agent: object('AgentCustomization', {
    ...invocable,
    type: is('agent'),
    model: optional(string),
    tools: optional(array(string)),
  }),
  skill: object('SkillCustomization', { ...invocable, type: is('skill') }),
  prompt: object('PromptCustomization', { ...described, type: is('prompt') }),
  rule: object('RuleCustomization', {
    ...described,
    type: is('rule'),
    alwaysApply: optional(boolean),
    globs: optional(array(string)),
  }),
  hook: object('HookCustomization', { ...child, type: is('hook') }),
  mcpServer: McpServerCustomization,
})
export type ChildCustomization = TypeOf<typeof ChildCustomization>

const container = {
  ...base,
  clientId: optional(id),
  load: optional(CustomizationLoad),
  /** Absent: not read yet. Empty: read, and there are none. */
  children: optional(array(ChildCustomization)),
}

const plugin = {
  ...container,
  type: is('plugin'),
  enablement: optional(array(CustomizationEnablement)),
  version: optional(string),
}
export interface PluginCustomization extends Infer<typeof plugin> {}
export const PluginCustomization: Schema<PluginCustomization> = object('PluginCustomization', plugin)

const clientPlugin = {
  ...plugin,
  nonce: optional(string),
  childEnablement: optional(record(array(CustomizationEnablement))),
}
/** A plugin as the client that owns it publishes it. */
export interface ClientPluginCustomization extends Infer<typeof clientPlugin> {}
export const ClientPluginCustomization: Schema<ClientPluginCustomization> = object(
  'ClientPluginCustomization',
  clientPlugin,
)

const directory = {
  ...container,
  type: is('directory'),
  enabled: boolean,
  contents: openEnum('CustomizationType', ['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer']),
  writable: boolean,
}
export interface DirectoryCustomization extends Infer<typeof directory> {}
export const DirectoryCustomization: Schema<DirectoryCustomization> = object(
  'DirectoryCustomization',
  directory,
)

export const Customization = variant('Customization', 'type', {
  plugin: PluginCustomization,
  directory: DirectoryCustomization,
  mcpServer: McpServerCustomization,
})
export type Customization = TypeOf<typeof Customization>
