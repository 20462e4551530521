import type { Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import { pathOf } from '@atrium/protocol/file-uri'
import { compact, without } from '@atrium/protocol/update'
import { rootUri } from '@atrium/protocol/uri'
import { choices } from '../access/choices.ts'
import { withDecision, withDecisionsOf, withoutDecisions } from '../access/decision.ts'
import {
  countProblem,
  optionsFor,
  permissionFor,
  permissionsIn,
  permissionsKey,
} from '../access/tool-permissions.ts'
import type { Permission } from '../access/tool-permissions.ts'
import { isProtected } from '../access/protected-files.ts'
import { isIn } from '../access/roots.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { permittedTool } from '../../ports/host-tool.ts'
import { asks, clientTool, isServerCall } from './offered-tools.ts'

type Ready = Extract<ChatAction, { readonly type: 'chat/toolCallReady' }>
type Confirmed = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>

/** A chat and its session. */
export interface ChatContext {
  readonly core: Core
  readonly session: Channel<'session'>
  readonly chat: Channel<'chat'>
}

/**
 * Adds what the host decides to an agent's action on a tool call. If the call asks for confirmation and a permission
 * covers it, the call is confirmed. Otherwise it gets the options that a user chooses from, unless the agent offers
 * options of its own. A permission never confirms edits of protected files (S-35). No agent can say who decided about
 * a call (X8).
 */
export function withApproval(context: ChatContext, given: ChatAction): ChatAction {
  if (given.type !== 'chat/toolCallReady') return withDecisions(context.chat, given)
  const { session, chat } = context
  const call = callIn(chat.head, given.toolCallId)
  const open = undecided(given, call)
  // An agent may say that no confirmation is needed, unless the tool itself asks for one. It may not say that a user or
  // a setting has given one.
  if (open.confirmed && !mustAsk(context, call)) return { ...open, confirmed: 'not-needed' }
  const action = without(open, 'confirmed')
  // An agent may make a call ready again while the call still asks for confirmation. The earlier edits and options then
  // stay until new ones replace them.
  const asking = call?.status === 'pending-confirmation' ? call : undefined
  const files = filesOf(action.edits ?? asking?.edits)
  const name = call && permittedName(call, action._meta)
  const permission =
    call && name !== undefined && !files.some(isProtected) && permissionIn(context, name, files)
  if (permission) {
    const _meta = withDecision(action._meta ?? call._meta ?? {}, 'decidedBy', { permission })
    return { ...without(action, 'options'), confirmed: 'setting', _meta }
  }
  const options = action.options ?? asking?.options ?? optionsFor(folderOf(session, chat), name !== undefined)
  return { ...action, options }
}

/**
 * Whether a user or a permission must confirm each call of the tool: the agent cannot say that no confirmation is
 * needed. This is so for a client tool whose definition says so, for one whose client asks its user itself, and for every
 * tool of an MCP server that the host runs.
 */
function mustAsk({ core, session }: ChatContext, call: ToolCallState | undefined): boolean {
  if (!call) return false
  const tool = clientTool(session.head, call)
  return tool ? asks(tool) || mayAskItself(core, call) : isServerCall(core, session, call)
}

/**
 * Whether the client of a call asks its user, unless the call is confirmed already. It is not known of a client that is not
 * connected.
 */
function mayAskItself({ clients }: Core, { contributor }: ToolCallState): boolean {
  if (contributor?.kind !== 'client') return false
  const { clientId } = contributor
  const isHere = clients.versionOf(clientId) !== undefined
  return !isHere || clients.habits(clients.implementationOf(clientId)?.name).asksBeforeTools === true
}

/**
 * The name under which permissions are stored for the tool of a call. Undefined if no permission covers the call. A
 * contributor chooses the names of its tools, so its id is part of the stored name: a permission for the agent's
 * `run` must not cover a contributor's `run`, nor the other way round.
 */
function permittedName(call: ToolCallState, meta = call._meta): string | undefined {
  const { toolName, contributor } = call
  if (contributor?.kind === 'client') return `client:${contributor.clientId}/${toolName}`
  return contributor?.kind === 'mcp'
    ? `mcp:${contributor.customizationId}/${toolName}`
    : permittedTool(toolName, meta)
}

/**
 * Adds the decisions that the host has recorded in the `_meta` of a call to an agent's action on the call. Otherwise
 * they would be lost, because the `_meta` of the action replaces that of the call.
 */
function withDecisions(chat: Channel<'chat'>, action: ChatAction): ChatAction {
  if (!('toolCallId' in action) || !action._meta) return action
  // A call that starts has no decisions yet, even if its id was used before.
  const before = action.type === 'chat/toolCallStart' ? undefined : callIn(chat.head, action.toolCallId)
  return { ...action, _meta: withDecisionsOf(action._meta, before?._meta) }
}

/** Removes earlier decisions from the action that makes a call ready again: they do not answer the new question. */
function undecided(action: Ready, call: ToolCallState | undefined): Ready {
  const before = action._meta ?? call?._meta
  const _meta = before && withoutDecisions(before)
  return _meta === before || _meta === undefined ? action : { ...action, _meta }
}

/**
 * Saves the permission that a user gave with a confirmation, in the step of the confirmation. A permission that is saved
 * already is not saved twice.
 */
export function savePermission(context: ChatContext, action: Confirmed, by: string): void {
  const request = requestedPermission(context, action)
  if (!request || isSaved(request)) return
  const { world, log } = context.core
  const { channel, tool, folder } = request
  const since = new Date(world.now()).toISOString()
  const permission = compact<Permission>({ id: world.id(), tool, folder, by, since })
  const config = { [permissionsKey]: [...savedIn(channel), permission] }
  if (channel.is('root')) log.append(channel, { type: 'root/configChanged', config })
  else if (channel.is('session')) log.append(channel, { type: 'session/configChanged', config })
}

/**
 * The reason why the permission that a confirmation gives cannot be saved; undefined if it can, or if there is none.
 */
export function whyNotSaved(context: ChatContext, action: Confirmed): string | undefined {
  const request = requestedPermission(context, action)
  if (!request || isSaved(request)) return undefined
  return countProblem(savedIn(request.channel).length + 1, context.core.limits.permissions)
}

/** `read`: the tool call only reads. `write`: the tool call changes something. */
export type FileAccess = 'read' | 'write'

/** The reason why a tool call may not act now; undefined if it may. Writing needs an approval (I7). */
export function unapproved(
  chat: Channel<'chat'>,
  toolCallId: string,
  access: FileAccess = 'write',
): string | undefined {
  const call = callIn(chat.committedState, toolCallId)
  if (call?.status !== 'running') return 'a tool may act only while its call is running'
  // The approval of a call of a client tool was given to the client that runs the tool, and not to the agent.
  if (call.contributor?.kind === 'client') return 'this tool runs in the client that provides it'
  return access === 'write' && call.confirmed === 'not-needed'
    ? 'nobody has approved this tool call'
    : undefined
}

/** Whether a user, or a permission, has confirmed a running call. */
export function isAgreed(chat: Channel<'chat'>, toolCallId: string): boolean {
  return unapproved(chat, toolCallId) === undefined
}

/**
 * The folder that a permission is given for: the first directory of the chat, or of the session if the chat has none.
 */
export function folderOf(session: Channel<'session'>, chat: Channel<'chat'>): Uri | undefined {
  const own = chat.head.workingDirectories ?? []
  return own[0] ?? session.head.workingDirectories?.[0]
}

/** A permission to save: the channel whose config will hold it, the tool, and the folder if there is one. */
interface PermissionRequest {
  readonly channel: Channel<'root'> | Channel<'session'>
  readonly tool: string
  readonly folder: Uri | undefined
}

function requestedPermission(
  { core, session, chat }: ChatContext,
  { approved, selectedOptionId: chosen, toolCallId }: Confirmed,
): PermissionRequest | undefined {
  const call = callIn(chat.head, toolCallId)
  if (!approved || !call) return undefined
  const tool = permittedName(call)
  if (tool === undefined) return undefined
  if (chosen === choices.session) return { channel: session, tool, folder: undefined }
  const root = core.log.channel(rootUri, 'root')
  const folder = folderOf(session, chat)
  if (chosen !== choices.folder || folder === undefined || !root) return undefined
  return { channel: root, tool, folder }
}

/**
 * Whether the same permission is saved already. If it were saved twice, a user who removes one copy would leave the other in
 * force.
 */
function isSaved({ channel, tool, folder }: PermissionRequest): boolean {
  return savedIn(channel).some((each) => each.tool === tool && each.folder === folder)
}

function savedIn({ head }: PermissionRequest['channel']): readonly Permission[] {
  return permissionsIn(head.config?.values)
}

/** Whether a permission allows a tool that edits no files to run in the chat. */
export function isPermitted(context: ChatContext, tool: string): boolean {
  return permissionIn(context, tool, []) !== undefined
}

/** The permission that covers a call. A permission for a folder covers edits of files in that folder only. */
function permissionIn(
  { core, session, chat }: ChatContext,
  tool: string,
  files: readonly Uri[],
): Permission | undefined {
  const root = core.log.channel(rootUri, 'root')?.head
  const folder = folderOf(session, chat)
  const covered = files.every((file) => isBelow(file, folder)) ? folder : undefined
  return permissionFor(tool, session.head.config?.values, root?.config?.values, covered)
}

function isBelow(file: Uri, folder: Uri | undefined): boolean {
  const inner = pathOf(file)
  const outer = pathOf(folder ?? '')
  return inner.ok && outer.ok && isIn(inner.path, outer.path)
}

function filesOf(edits: Ready['edits']): readonly Uri[] {
  return (edits?.items ?? []).flatMap(({ before, after }) =>
    [before, after].flatMap((side) => side?.uri ?? []),
  )
}
