import { client, host } from '../action.ts'
import type { ActionsOf } from '../action.ts'
import { Changeset } from '../changeset/state.ts'
import { ChatSummary, chatSummaryShape } from '../chat/state.ts'
import { ErrorInfo } from '../common/content.ts'
import { array, jsonObject, boolean, id, object, optional, string } from '../schema.ts'
import type { Infer } from '../schema.ts'
import { SessionStatus } from '../common/status.ts'
import { Customization, CustomizationEnablement, McpServerState, customizationId } from './customization.ts'
import { SessionActiveClient, SessionInputRequest, ToolDefinition } from './state.ts'

const chatChanges = {
  ...chatSummaryShape,
  resource: optional(id),
  title: optional(string),
  status: optional(SessionStatus),
  modifiedAt: optional(string),
}
export interface ChatSummaryChanges extends Infer<typeof chatChanges> {}
export const ChatSummaryChanges = object<ChatSummaryChanges>('PartialChatSummary', chatChanges)

export const customizationActions = {
  'session/customizationsChanged': host({ customizations: array(Customization) }),
  'session/customizationToggled': client({ id: customizationId, enablement: array(CustomizationEnablement) }),
  'session/customizationUpdated': host({ customization: Customization }),
  'session/customizationRemoved': host({ id: customizationId }),
  'session/mcpServerStateChanged': host({
    id: customizationId,
    state: McpServerState,
    channel: optional(id),
  }),
  'session/mcpServerStartRequested': client({ id: customizationId }),
  'session/mcpServerStopRequested': client({ id: customizationId }),
  'session/mcpServerBackgroundRequested': client({ id: customizationId }),
}
export type CustomizationAction = ActionsOf<typeof customizationActions>

export const chatListActions = {
  'session/chatAdded': host({ summary: ChatSummary }),
  'session/chatRemoved': host({ chat: id }),
  'session/chatUpdated': host({ chat: id, changes: ChatSummaryChanges }),
  'session/chatsReordered': host({ chats: array(id) }),
  'session/defaultChatChanged': client({ defaultChat: optional(id) }),
}
export type ChatListAction = ActionsOf<typeof chatListActions>

export const sessionActions = {
  ...customizationActions,
  ...chatListActions,
  'session/ready': host({}),
  'session/creationFailed': host({ error: ErrorInfo }),
  'session/titleChanged': client({ title: string }),
  'session/isReadChanged': client({ isRead: boolean }),
  'session/isArchivedChanged': client({ isArchived: boolean }),
  'session/activityChanged': host({ activity: optional(string) }),
  'session/changesetsChanged': host({ changesets: optional(array(Changeset)) }),
  'session/serverToolsChanged': host({ tools: array(ToolDefinition) }),
  'session/activeClientSet': client({ activeClient: SessionActiveClient }),
  'session/activeClientRemoved': client({ clientId: id }),
  'session/workingDirectorySet': client({ directory: id }),
  'session/workingDirectoryRemoved': client({ directory: id }),
  'session/workingDirectoryReplaced': client({ directory: id, replacement: id }),
  'session/inputNeededSet': host({ request: SessionInputRequest }),
  'session/inputNeededRemoved': host({ id }),
  'session/configChanged': client({ config: jsonObject, replace: optional(boolean) }),
  'session/metaChanged': host({ _meta: optional(jsonObject) }),
}
export type SessionAction = ActionsOf<typeof sessionActions>
