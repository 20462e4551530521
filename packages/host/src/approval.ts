import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { RootAction } from '@atrium/protocol/root/actions'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionAction } from '@atrium/protocol/session/actions'
import type { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from './channel.ts'
import type { Core } from './core.ts'
import { allows, choices, optionsFor, permissionsIn, permissionsKey } from './permissions.ts'
import type { Permission } from './permissions.ts'
import { isProtected } from './protected.ts'

type Ready = Extract<ChatAction, { readonly type: 'chat/toolCallReady' }>
type Confirmed = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>

/**
 * A tool call that asks is answered by what was allowed before, else given the choices that a person has; an agent that has
 * choices of its own keeps them. What changes how an agent is held is asked for every time (S-35).
 */
export function judged(core: Core, session: Channel, chat: Channel, action: Action): Action {
  if (action.type !== 'chat/toolCallReady') return action
  const ready = action as Ready
  // That somebody, or a rule, has agreed is not for an agent to say: it can only mean that nobody need be asked.
  if (ready.confirmed !== undefined) return { ...ready, confirmed: 'not-needed' } as Action
  const tool = callIn(chat.head as ChatState, ready.toolCallId)?.toolName
  const folder = folderOf(session, chat)
  const free = tool !== undefined && !touchesProtected(ready) && isAllowed(core, session, tool, folder)
  if (!free) return { ...ready, options: ready.options ?? optionsFor(folder) } as Action
  const { options: _, ...rest } = ready
  return { ...rest, confirmed: 'setting' } as Action
}

/** Somebody has chosen more than once: what they allow is written down in the same step. */
export function remember(core: Core, session: Channel, chat: Channel, action: Confirmed, by: string): void {
  const { approved, selectedOptionId: chosen, toolCallId } = action
  const tool = callIn(chat.head as ChatState, toolCallId)?.toolName
  if (!approved || tool === undefined) return
  const given = { id: core.world.id(), tool, by, since: new Date(core.world.now()).toISOString() }
  const folder = folderOf(session, chat)
  if (chosen === choices.session) allowInSession(core, session, given)
  else if (chosen === choices.folder && folder !== undefined) allowInFolder(core, { ...given, folder })
}

/** Why a tool may not do its work now, if it may not: nothing is done that nobody has approved (I7). */
export function unapproved(chat: Channel, toolCallId: string): string | undefined {
  const call = callIn(chat.told as ChatState, toolCallId)
  if (call?.status !== 'running') return 'a tool may work while its call runs, and no longer'
  // It was agreed to where it runs.
  if (call.contributor?.kind === 'client') return 'this tool runs in the client that lends it'
  return call.confirmed === 'not-needed' ? 'nobody has approved this tool call' : undefined
}

export function callIn({ activeTurn }: ChatState, toolCallId: string): ToolCallState | undefined {
  for (const part of activeTurn?.responseParts ?? [])
    if (part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId) return part.toolCall
  return undefined
}

/** The folder that a permission is given for: the first that a chat works in. */
export function folderOf(session: Channel, chat: Channel): Uri | undefined {
  const own = (chat.head as ChatState).workingDirectories ?? []
  return own[0] ?? (session.head as SessionState).workingDirectories?.[0]
}

function isAllowed(core: Core, session: Channel, tool: string, folder: Uri | undefined): boolean {
  const root = core.log.channel(rootUri)?.head as RootState | undefined
  return allows(tool, (session.head as SessionState).config?.values, root?.config?.values, folder)
}

function touchesProtected({ edits }: Ready): boolean {
  return (edits?.items ?? []).some(({ before, after }) =>
    [before?.uri, after?.uri].some((uri) => uri !== undefined && isProtected(uri)),
  )
}

function allowInSession(core: Core, session: Channel, given: Permission): void {
  const list = [...permissionsIn((session.head as SessionState).config?.values), given]
  core.log.append(session, {
    type: 'session/configChanged',
    config: { [permissionsKey]: list },
  } as SessionAction)
}

function allowInFolder(core: Core, given: Permission): void {
  const root = core.log.channel(rootUri)
  if (!root) return
  const list = [...permissionsIn((root.head as RootState).config?.values), given]
  core.log.append(root, { type: 'root/configChanged', config: { [permissionsKey]: list } } as RootAction)
}
