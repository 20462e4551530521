import { ProtectedResourceMetadata } from '../common/auth.ts'
import { ConfigSchema, ConfigState } from '../common/config.ts'
import { meta } from '../common/content.ts'
import { array, boolean, id, natural, number, object, oneOf, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import { Customization } from '../session/customization.ts'
import { TerminalInfo } from '../terminal/state.ts'

const sessionModelInfo = {
  id,
  provider: string,
  name: string,
  maxContextWindow: optional(number),
  maxOutputTokens: optional(number),
  maxPromptTokens: optional(number),
  supportsVision: optional(boolean),
  policyState: optional(oneOf('PolicyState', ['enabled', 'disabled', 'unconfigured'])),
  configSchema: optional(ConfigSchema),
  ...meta,
}
export interface SessionModelInfo extends Infer<typeof sessionModelInfo> {}
export const SessionModelInfo = object<SessionModelInfo>('SessionModelInfo', sessionModelInfo)

const multipleChats = { fork: optional(boolean), sideChat: optional(boolean) }
export interface MultipleChats extends Infer<typeof multipleChats> {}
export const MultipleChats = object<MultipleChats>('MultipleChatsCapability', multipleChats)

const multipleDirectories = { immutablePrimary: optional(boolean), primaryReplacement: optional(boolean) }
export interface MultipleDirectories extends Infer<typeof multipleDirectories> {}
export const MultipleDirectories = object<MultipleDirectories>(
  'MultipleWorkingDirectoriesCapability',
  multipleDirectories,
)

const agentCapabilities = {
  multipleChats: optional(MultipleChats),
  multipleWorkingDirectories: optional(MultipleDirectories),
}
export interface AgentCapabilities extends Infer<typeof agentCapabilities> {}
export const AgentCapabilities = object<AgentCapabilities>('AgentCapabilities', agentCapabilities)

const agentInfo = {
  provider: string,
  displayName: string,
  description: string,
  models: array(SessionModelInfo),
  protectedResources: optional(array(ProtectedResourceMetadata)),
  customizations: optional(array(Customization)),
  capabilities: optional(AgentCapabilities),
}
export interface AgentInfo extends Infer<typeof agentInfo> {}
export const AgentInfo = object<AgentInfo>('AgentInfo', agentInfo)

const rootState = {
  agents: array(AgentInfo),
  activeSessions: optional(natural),
  terminals: optional(array(TerminalInfo)),
  config: optional(ConfigState),
  ...meta,
}
export interface RootState extends Infer<typeof rootState> {}
export const RootState = object<RootState>('RootState', rootState)
