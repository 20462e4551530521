import { machinesOf } from '../../catalog/machines.ts'
import type { Message } from '@atrium/protocol/chat/message'
import type { Method, Params } from '@atrium/protocol/commands'
import { pathOf } from '@atrium/protocol/file-uri'
import type { DispatchableAction } from '@atrium/protocol/kind-types'
import type { Role } from '@atrium/protocol/root/device'
import type { SessionActiveClient } from '@atrium/protocol/session/state'
import { isIn } from '../access/roots.ts'
import { lineOf } from '../agents/shell-agent.ts'
import type { Core } from '../../kernel/core.ts'
import type { Needed } from '../../kernel/role-check.ts'

/** The role that each command needs. A command without a row does not compile (S-12). */
export const commandRoles: { readonly [M in Method]: Needed<Params<M>> } = {
  initialize: 'watch',
  reconnect: 'watch',
  ping: 'watch',
  subscribe: 'watch',
  listSessions: 'watch',
  fetchTurns: 'watch',
  resourceRead: 'watch',
  resourceList: 'watch',
  resourceResolve: 'watch',
  createResourceWatch: 'watch',
  fetchAutomationRuns: 'watch',
  listAutomationTriggerDefinitions: 'watch',
  resolveSessionConfig: 'prompt',
  sessionConfigCompletions: 'prompt',
  completions: 'prompt',
  createSession: ({ workingDirectories, config, activeClient }, core) =>
    Object.keys(config ?? {}).length > 0 || (activeClient && lends(activeClient))
      ? 'own'
      : openFolders(core, workingDirectories),
  createChat: ({ workingDirectories, initialMessage }, core) =>
    initialMessage && isCommand(initialMessage) ? 'own' : openFolders(core, workingDirectories),
  // A disposed session or chat cannot be restored.
  disposeSession: 'own',
  disposeChat: 'own',
  // The agent of a moved chat works in the folders of another session.
  moveChat: 'own',
  authenticate: 'own',
  createTerminal: 'own',
  disposeTerminal: 'own',
  resourceWrite: 'own',
  resourceMkdir: 'own',
  resourceDelete: 'own',
  resourceCopy: 'own',
  resourceMove: 'own',
  resourceRequest: 'own',
  invokeChangesetOperation: 'own',
  runAutomation: 'own',
}

type Rows = { readonly [A in DispatchableAction as A['type']]: Needed<A> }

/** The role that each action needs. An action without a row does not compile (S-12). */
export const actionRoles: Rows = {
  'chat/turnStarted': ({ message }) => (isCommand(message) ? 'own' : 'prompt'),
  'chat/pendingMessageSet': ({ message }) => (isCommand(message) ? 'own' : 'prompt'),
  'chat/turnCancelled': 'prompt',
  'chat/turnResume': 'prompt',
  'chat/pendingMessageRemoved': 'prompt',
  'chat/queuedMessagesReordered': 'prompt',
  'chat/draftChanged': 'prompt',
  'chat/isReadChanged': 'prompt',
  'chat/isArchivedChanged': 'prompt',
  'session/titleChanged': 'prompt',
  'session/isReadChanged': 'prompt',
  'session/isArchivedChanged': 'prompt',
  'session/defaultChatChanged': 'prompt',
  'session/activeClientSet': ({ activeClient }) => (lends(activeClient) ? 'own' : 'prompt'),
  'session/activeClientRemoved': 'prompt',
  'changeset/filesReviewChanged': 'prompt',
  'annotations/set': 'prompt',
  'annotations/updated': 'prompt',
  'annotations/removed': 'prompt',
  'annotations/entrySet': 'prompt',
  'annotations/entryRemoved': 'prompt',
  'chat/toolCallConfirmed': 'approve',
  'chat/toolCallResultConfirmed': 'approve',
  // The answers of a form may decide what an agent does.
  'chat/inputAnswerChanged': 'approve',
  'chat/inputCompleted': 'approve',
  // Removed turns cannot be restored.
  'chat/truncated': 'own',
  // These actions report the result of a tool that a client lends to the session.
  'chat/toolCallComplete': 'own',
  'chat/toolCallContentChanged': 'own',
  'chat/workingDirectorySet': 'own',
  'chat/workingDirectoryRemoved': 'own',
  'session/workingDirectorySet': 'own',
  'session/workingDirectoryRemoved': 'own',
  'session/workingDirectoryReplaced': 'own',
  'session/configChanged': 'own',
  'session/customizationToggled': 'own',
  'session/mcpServerStartRequested': 'own',
  'session/mcpServerStopRequested': 'own',
  'session/mcpServerBackgroundRequested': 'own',
  'root/configChanged': 'own',
  'terminal/input': 'own',
  'terminal/resized': 'own',
  'terminal/claimed': 'own',
  'terminal/titleChanged': 'own',
  'terminal/cleared': 'own',
  'automation/createRequested': 'own',
  'automation/updateRequested': 'own',
  'automation/removed': 'own',
  'automationRun/cancelRequested': 'own',
}

/**
 * The role for work in these folders. A folder that no session works in yet needs `own`, because a session opens the
 * folder to all clients.
 */
function openFolders(core: Core, folders: readonly string[] = []): Role {
  const open = [...machinesOf(core).directories].flatMap(pathIn)
  return folders.every((uri) => pathIn(uri).some((path) => open.some((root) => isIn(path, root))))
    ? 'prompt'
    : 'own'
}

function pathIn(uri: string): readonly string[] {
  const named = pathOf(uri)
  return named.ok ? [named.path] : []
}

/** Whether a client lends tools or plugins to a session. */
function lends({ tools, customizations = [] }: SessionActiveClient): boolean {
  return tools.length > 0 || customizations.length > 0
}

/** Whether a message is a shell command, which the host runs without approval. */
function isCommand(message: Message): boolean {
  return lineOf(message) !== undefined
}
