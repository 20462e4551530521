import { mcpAuthRequirementShape } from '../common/auth.ts'
import { ErrorInfo, Icon, meta, presence } from '../common/content.ts'
import { TextRange } from '../common/text.ts'
import { array, boolean, id, is, object, openEnum, optional, record, string, variant } from '../schema.ts'
import type { Infer, TypeOf } from '../schema.ts'

const decision = { enabled: boolean }
const sessionEnablement = { ...decision, kind: is('session') }
export interface SessionEnablement extends Infer<typeof sessionEnablement> {}

const workspaceEnablement = { ...decision, kind: is('workspace'), uri: id }
export interface WorkspaceEnablement extends Infer<typeof workspaceEnablement> {}

const globalEnablement = { ...decision, kind: is('global') }
export interface GlobalEnablement extends Infer<typeof globalEnablement> {}

export const CustomizationEnablement = variant('CustomizationEnablement', 'kind', {
  session: object<SessionEnablement>('SessionEnablement', sessionEnablement),
  workspace: object<WorkspaceEnablement>('WorkspaceEnablement', workspaceEnablement),
  global: object<GlobalEnablement>('GlobalEnablement', globalEnablement),
})
/** A decision whether a customization is enabled. In a list, the most specific decision is first and wins. */
export type CustomizationEnablement = TypeOf<typeof CustomizationEnablement>

const customizationLoading = { kind: is('loading') }
export interface CustomizationLoading extends Infer<typeof customizationLoading> {}

const customizationLoaded = { kind: is('loaded') }
export interface CustomizationLoaded extends Infer<typeof customizationLoaded> {}

const customizationDegraded = { kind: is('degraded'), message: string }
export interface CustomizationDegraded extends Infer<typeof customizationDegraded> {}

const customizationLoadError = { kind: is('error'), message: string }
export interface CustomizationLoadError extends Infer<typeof customizationLoadError> {}

export const CustomizationLoad = variant(
  'CustomizationLoadState',
  'kind',
  {
    loading: object<CustomizationLoading>('CustomizationLoading', customizationLoading),
    loaded: object<CustomizationLoaded>('CustomizationLoaded', customizationLoaded),
    degraded: object<CustomizationDegraded>('CustomizationDegraded', customizationDegraded),
    error: object<CustomizationLoadError>('CustomizationLoadError', customizationLoadError),
  },
  'closed',
)
export type CustomizationLoad = TypeOf<typeof CustomizationLoad>

const mcpServerStarting = { kind: is('starting'), blocking: optional(boolean) }
export interface McpServerStarting extends Infer<typeof mcpServerStarting> {}

const mcpServerReady = { kind: is('ready') }
export interface McpServerReady extends Infer<typeof mcpServerReady> {}

const mcpServerAuthRequired = { kind: is('authRequired'), ...mcpAuthRequirementShape }
export interface McpServerAuthRequired extends Infer<typeof mcpServerAuthRequired> {}

const mcpServerError = { kind: is('error'), error: ErrorInfo }
export interface McpServerError extends Infer<typeof mcpServerError> {}

const mcpServerStopped = { kind: is('stopped') }
export interface McpServerStopped extends Infer<typeof mcpServerStopped> {}

export const McpServerState = variant('McpServerState', 'kind', {
  starting: object<McpServerStarting>('McpServerStarting', mcpServerStarting),
  ready: object<McpServerReady>('McpServerReady', mcpServerReady),
  authRequired: object<McpServerAuthRequired>('McpServerAuthRequired', mcpServerAuthRequired),
  error: object<McpServerError>('McpServerError', mcpServerError),
  stopped: object<McpServerStopped>('McpServerStopped', mcpServerStopped),
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
export const McpAppCapabilities = object<McpAppCapabilities>('McpAppCapabilities', mcpAppCapabilities)

const mcpApp = { capabilities: McpAppCapabilities }
export interface McpApp extends Infer<typeof mcpApp> {}
export const McpApp = object<McpApp>('McpApp', mcpApp)

/** Any string: hosts choose these ids, and one released host uses the raw bytes of a hash. */
export const customizationId = string

const base = {
  id: customizationId,
  uri: id,
  name: string,
  icons: optional(array(Icon)),
  range: optional(TextRange),
  ...meta,
}
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
export const McpServerCustomization = object<McpServerCustomization>('McpServerCustomization', mcpServer)

const agentCustomization = {
  ...invocable,
  type: is('agent'),
  model: optional(string),
  tools: optional(array(string)),
}
export interface AgentCustomization extends Infer<typeof agentCustomization> {}

const skillCustomization = { ...invocable, type: is('skill') }
export interface SkillCustomization extends Infer<typeof skillCustomization> {}

const promptCustomization = { ...described, type: is('prompt') }
export interface PromptCustomization extends Infer<typeof promptCustomization> {}

const ruleCustomization = {
  ...described,
  type: is('rule'),
  alwaysApply: optional(boolean),
  globs: optional(array(string)),
}
export interface RuleCustomization extends Infer<typeof ruleCustomization> {}

const hookCustomization = { ...child, type: is('hook') }
export interface HookCustomization extends Infer<typeof hookCustomization> {}

export const ChildCustomization = variant('ChildCustomization', 'type', {
  agent: object<AgentCustomization>('AgentCustomization', agentCustomization),
  skill: object<SkillCustomization>('SkillCustomization', skillCustomization),
  prompt: object<PromptCustomization>('PromptCustomization', promptCustomization),
  rule: object<RuleCustomization>('RuleCustomization', ruleCustomization),
  hook: object<HookCustomization>('HookCustomization', hookCustomization),
  mcpServer: McpServerCustomization,
})
export type ChildCustomization = TypeOf<typeof ChildCustomization>

const container = {
  ...base,
  clientId: optional(id),
  load: optional(CustomizationLoad),
  /** Absent until the children were read. Empty if there are none. */
  children: optional(array(ChildCustomization)),
}

const plugin = {
  ...container,
  type: is('plugin'),
  enablement: optional(array(CustomizationEnablement)),
  version: optional(string),
}
export interface PluginCustomization extends Infer<typeof plugin> {}
export const PluginCustomization = object<PluginCustomization>('PluginCustomization', plugin)

const clientPlugin = {
  ...plugin,
  nonce: optional(string),
  childEnablement: optional(record(array(CustomizationEnablement))),
}
/** A plugin in the form that its client sends to the host. */
export interface ClientPluginCustomization extends Infer<typeof clientPlugin> {}
export const ClientPluginCustomization = object<ClientPluginCustomization>(
  'ClientPluginCustomization',
  clientPlugin,
)

const directory = {
  ...container,
  type: is('directory'),
  enabled: boolean,
  contents: openEnum('ChildCustomizationType', ['agent', 'skill', 'prompt', 'rule', 'hook', 'mcpServer']),
  writable: boolean,
}
export interface DirectoryCustomization extends Infer<typeof directory> {}
export const DirectoryCustomization = object<DirectoryCustomization>('DirectoryCustomization', directory)

export const Customization = variant('Customization', 'type', {
  plugin: PluginCustomization,
  directory: DirectoryCustomization,
  mcpServer: McpServerCustomization,
})
export type Customization = TypeOf<typeof Customization>
