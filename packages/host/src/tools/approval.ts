import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatAction } from '@atrium/protocol/chat/actions'
import { compact } from '@atrium/protocol/update'
import { pathOf } from '@atrium/protocol/file-uri'
import { rootUri } from '@atrium/protocol/uri'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'
import { choices } from '../access/choices.ts'
import { allows, countProblem, optionsFor, permissionsIn, permissionsKey } from '../access/permissions.ts'
import type { Permission } from '../access/permissions.ts'
import { isProtected } from '../access/protected-files.ts'
import { isIn } from '../access/roots.ts'
import { callIn } from '@atrium/protocol/chat/calls'

type Ready = Extract<ChatAction, { readonly type: 'chat/toolCallReady' }>
type Confirmed = Extract<ChatAction, { readonly type: 'chat/toolCallConfirmed' }>

/**
 * A tool call that asks is answered by what was allowed before, else given the choices that a person has; an agent that has
 * choices of its own keeps them. What changes how an agent is held is asked for every time (S-35).
 */
export function withApproval(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  action: Action,
): Action {
  if (action.type !== 'chat/toolCallReady') return action
  const ready = action as Ready
  // That somebody else has confirmed it is not the agent's to say.
  if (ready.confirmed) return { ...ready, confirmed: 'not-needed' } as Action
  const call = callIn(chat.head, ready.toolCallId)
  // What was shown or offered while it asked stands until something else is.
  const asked = call?.status === 'pending-confirmation' ? call : undefined
  const files = filesOf(ready.edits ?? asked?.edits)
  const free =
    call &&
    !files.some(isProtected) &&
    isAllowed(core, session, call.toolName, folderOf(session, chat), files)
  if (!free)
    return {
      ...ready,
      options: ready.options ?? asked?.options ?? optionsFor(folderOf(session, chat)),
    } as Action
  const { options: _, ...rest } = ready
  return { ...rest, confirmed: 'setting' } as Action
}

/** Somebody has chosen more than once: what they allow is written down in the same step, unless it is already. */
export function savePermission(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  action: Confirmed,
  by: string,
): void {
  const wish = wishOf(core, session, chat, action)
  if (!wish || isKept(wish)) return
  const { channel, tool, folder } = wish
  const since = new Date(core.world.now()).toISOString()
  const given = compact<Permission>({ id: core.world.id(), tool, folder, by, since })
  const config = { [permissionsKey]: [...keptIn(channel), given] }
  if (channel.is('root')) core.log.append(channel, { type: 'root/configChanged', config })
  else if (channel.is('session')) core.log.append(channel, { type: 'session/configChanged', config })
}

/** Why what somebody has chosen cannot be written down, if it cannot. */
export function whyNotSaved(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  action: Confirmed,
): string | undefined {
  const wish = wishOf(core, session, chat, action)
  if (!wish || isKept(wish)) return undefined
  return countProblem(keptIn(wish.channel).length + 1, core.limits.permissions)
}

/** Whether a call looks at something, or does something. */
export type FileAccess = 'look' | 'act'

/** Why a tool may not do its work now, if it may not: nothing is done that nobody has approved (I7). */
export function unapproved(
  chat: Channel<'chat'>,
  toolCallId: string,
  deed: FileAccess = 'act',
): string | undefined {
  const call = callIn(chat.committedState, toolCallId)
  if (call?.status !== 'running') return 'a tool may work while its call runs, and no longer'
  // It was agreed to where it runs.
  if (call.contributor?.kind === 'client') return 'this tool runs in the client that lends it'
  return deed === 'act' && call.confirmed === 'not-needed' ? 'nobody has approved this tool call' : undefined
}

/** Whether somebody, or a permission, has agreed to a call that runs. */
export function isAgreed(chat: Channel<'chat'>, toolCallId: string): boolean {
  return unapproved(chat, toolCallId) === undefined
}

/** The folder that a permission is given for: the first that a chat works in. */
export function folderOf(session: Channel<'session'>, chat: Channel<'chat'>): Uri | undefined {
  const own = chat.head.workingDirectories ?? []
  return own[0] ?? session.head.workingDirectories?.[0]
}

/** What is to be allowed from now on: in which config it is kept, for which tool, and where. */
interface Wish {
  readonly channel: Channel<'root'> | Channel<'session'>
  readonly tool: string
  readonly folder: Uri | undefined
}

function wishOf(
  core: Core,
  session: Channel<'session'>,
  chat: Channel<'chat'>,
  { approved, selectedOptionId: chosen, toolCallId }: Confirmed,
): Wish | undefined {
  const tool = callIn(chat.head, toolCallId)?.toolName
  if (!approved || tool === undefined) return undefined
  if (chosen === choices.session) return { channel: session, tool, folder: undefined }
  const root = core.log.channel(rootUri, 'root')
  const folder = folderOf(session, chat)
  if (chosen !== choices.folder || folder === undefined || !root) return undefined
  return { channel: root, tool, folder }
}

/** A second one would stay where the first is taken back. */
function isKept({ channel, tool, folder }: Wish): boolean {
  return keptIn(channel).some((each) => each.tool === tool && each.folder === folder)
}

function keptIn({ head }: Wish['channel']): readonly Permission[] {
  return permissionsIn(head.config?.values)
}

/** What is allowed in a folder is so for the files in it. */
function isAllowed(
  core: Core,
  session: Channel<'session'>,
  tool: string,
  folder: Uri | undefined,
  files: readonly Uri[],
): boolean {
  const root = core.log.channel(rootUri, 'root')?.head
  const there = files.every((file) => isBelow(file, folder)) ? folder : undefined
  return allows(tool, session.head.config?.values, root?.config?.values, there)
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
