import { worktreesOf } from '../../catalog/machine.ts'
import { worktreeIdsOf } from '../../catalog/machine.ts'
import { catalogOf } from '../../catalog/catalog.ts'
import type { Uri } from '@atrium/protocol/channel'
import type { ErrorInfo } from '@atrium/protocol/common/content'
import { fileUri, pathOf } from '@atrium/protocol/file-uri'
import { isJsonObject } from '@atrium/protocol/json'
import type { JsonObject } from '@atrium/protocol/json'
import type { SessionState } from '@atrium/protocol/session/state'
import { isolationKeys } from '../agents/isolation.ts'
import { wakeIfSound } from '../../channels/wake.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { equal } from '../../kernel/log/equal.ts'
import { WorktreeRefused } from '../../ports/worktrees.ts'
import type { AppliedWorktree, UnfinishedWorktree, Worktree, Worktrees } from '../../ports/worktrees.ts'
import { runSetup } from './setup.ts'

type Values = Readonly<Record<string, unknown>>

/** Whether config values ask for a worktree. */
export function wantsWorktree(values: Values = {}): boolean {
  return values[isolationKeys.isolation] === 'worktree'
}

/**
 * The reason why a session with these values cannot have the worktree that it asks for; undefined if it can, or if it
 * asks for none.
 */
export function worktreeProblem(values: Values = {}, directories: readonly Uri[] = []): string | undefined {
  if (!wantsWorktree(values)) return undefined
  if (directories.length !== 1) return 'a session in a worktree has one working directory'
  const folder = textIn(values, isolationKeys.folder)
  return folder !== '' && !folder.startsWith('/')
    ? `${isolationKeys.folder} must be an absolute path`
    : undefined
}

/** Remembers that a new session will have a worktree, in the step that creates the session. */
export function assignWorktree(core: Core, session: Uri, values: Values | undefined): void {
  if (worktreesOf(core) && wantsWorktree(values)) worktreeIdsOf(core).set(session, core.world.id().slice(-12))
}

interface Creation {
  readonly report: (done: number, total: number, message: string) => void
  readonly signal: AbortSignal
}

/**
 * Creates the worktree of a session, if it has one, and makes it the session's working directory. If the host was
 * stopped in the middle of this, the next start does it again. Returns the error if the worktree cannot be created.
 */
export async function prepareWorktree(
  core: Core,
  session: Channel<'session'>,
  { report, signal }: Creation,
): Promise<ErrorInfo | undefined> {
  const id = worktreeIdsOf(core).get(session.uri)
  const { workingDirectories: [directory] = [], config } = session.head
  const worktrees = worktreesOf(core)
  if (!worktrees || id === undefined || directory === undefined || shownWorktree(session.head))
    return undefined
  const named = pathOf(directory)
  if (!named.ok) return { errorType: 'worktree', message: named.problem }
  const values = config?.values ?? {}
  const branch = textIn(values, isolationKeys.branch)
  const path = textIn(values, isolationKeys.folder)
  const wanted = { id, directory: named.path, ...(branch !== '' && { branch }), ...(path !== '' && { path }) }
  try {
    report(0, 3, 'Creating the worktree')
    const worktree = await worktrees.create(wanted, signal)
    report(1, 3, 'Setting up the worktree')
    const allowed = textIn(values, isolationKeys.setup)
    const note = await runSetup(core, { root: worktree.path, allowed }, signal)
    if (core.log.channel(session.uri) !== session || signal.aborted) return undefined
    enter(core, session, directory, { ...worktree, notes: [...worktree.notes, ...(note ? [note] : [])] })
    await core.log.reached(core.log.last)
    report(2, 3, 'Starting the agent')
    return undefined
  } catch (error) {
    if (error instanceof WorktreeRefused) return { errorType: 'worktree', message: error.message }
    core.world.report('worktree not created', error)
    return { errorType: 'worktree', message: 'The worktree could not be created.' }
  }
}

/** Makes a worktree the working directory of a session, and shows it, in one step. */
function enter(core: Core, session: Channel<'session'>, directory: Uri, worktree: Worktree): void {
  const { id, main, path, branch, base, notes } = worktree
  const shown = {
    id,
    main: fileUri(main),
    root: fileUri(path),
    branch,
    base,
    ...(notes.length > 0 && { notes }),
  }
  const replacement = fileUri(worktree.directory)
  core.log.append(session, { type: 'session/workingDirectoryReplaced', directory, replacement })
  show(core, session, shown)
}

function show(core: Core, session: Channel<'session'>, worktree: JsonObject): void {
  const { _meta = {} } = session.head
  const own = _meta['x-atrium']
  const next = { ...(isJsonObject(own) && own), worktree }
  core.log.append(session, { type: 'session/metaChanged', _meta: { ..._meta, 'x-atrium': next } })
}

/**
 * Gives the worktree of a session to the session that gets one of its chats, in the step that moves the chat. Both then work in
 * the worktree, and both can apply it.
 */
export function shareWorktree(core: Core, from: Channel<'session'>, to: Channel<'session'>): void {
  const id = worktreeIdsOf(core).get(from.uri)
  const shown = shownWorktree(from.head)
  const isSame = equal(from.head.workingDirectories, to.head.workingDirectories)
  if (id === undefined || !shown || !isSame || worktreeIdsOf(core).has(to.uri)) return
  worktreeIdsOf(core).set(to.uri, id)
  show(core, to, shown)
}

/** The sessions that work in the same worktree as a session, this one included. */
export function sessionsBeside(core: Core, session: Uri): readonly Uri[] {
  const id = worktreeIdsOf(core).get(session)
  return id === undefined
    ? []
    : worktreeIdsOf(core)
        .entries()
        .flatMap(([uri, each]) => (each === id ? [uri] : []))
}

/** The worktree that a session shows. */
export function shownWorktree({ _meta }: SessionState): JsonObject | undefined {
  const own = _meta?.['x-atrium']
  const worktree = isJsonObject(own) ? own['worktree'] : undefined
  return isJsonObject(worktree) ? worktree : undefined
}

/**
 * Removes the worktrees of disposed sessions. A worktree that contains work is not removed: it stays for ever, with its branch,
 * and the log of the host says why.
 */
export async function removeWorktrees(core: Core): Promise<void> {
  const worktrees = worktreesOf(core)
  const worktreeIds = worktreeIdsOf(core)
  if (!worktrees || core.readOnlyReason() !== undefined) return
  for (const session of worktreeIds.keys()) {
    const id = worktreeIds.get(session)
    if (id === undefined || catalogOf(core).get(session)) continue
    try {
      if (await isUsed(core, worktrees, id)) continue
      await worktrees.remove(id)
    } catch (error) {
      if (!(error instanceof WorktreeRefused)) {
        core.world.report('worktree not removed', error)
        continue
      }
      core.world.report('worktree kept', error.message)
    }
    for (const each of sessionsBeside(core, session)) worktreeIds.delete(each)
  }
  core.log.scheduleFlush()
}

/**
 * Whether a session works in a worktree. A chat that has moved to another session takes its directory along, so that session
 * may still use the worktree.
 */
async function isUsed(core: Core, worktrees: Worktrees, id: string): Promise<boolean> {
  const made = await worktrees.state(id).catch(() => undefined)
  if (!made) return false
  const root = fileUri(made.worktree.path)
  return [...catalogOf(core).directories].some((each) => each === root || each.startsWith(`${root}/`))
}

/** Finishes what the previous run of the host had begun to apply or to remove. */
export async function recoverWorktrees(core: Core): Promise<void> {
  const worktrees = worktreesOf(core)
  if (!worktrees || core.readOnlyReason() !== undefined) return
  try {
    for (const recovered of await worktrees.recover()) await tell(core, recovered)
  } catch (error) {
    core.world.report('worktrees not recovered', error)
  }
  await removeWorktrees(core)
}

/** Says in the log of the host, and in the session, how an interrupted `apply` has ended. */
async function tell(core: Core, recovered: AppliedWorktree | UnfinishedWorktree): Promise<void> {
  const { id, main } = recovered
  const note =
    'problem' in recovered
      ? `Applying the changes to ${main} was interrupted, and cannot be finished now. ${recovered.problem}`
      : `Applying the changes to ${main} was interrupted, and has been finished.${leftText(recovered)}`
  const event =
    'problem' in recovered ? 'worktree not applied after a restart' : 'worktree applied after a restart'
  core.world.report(event, note)
  for (const [uri, each] of worktreeIdsOf(core).entries()) {
    const session = each === id ? await wakeIfSound(core, uri) : undefined
    if (!session?.is('session')) continue
    const shown = shownWorktree(session.head) ?? {}
    const { notes = [] } = shown
    if (Array.isArray(notes) && !notes.includes(note))
      show(core, session, { ...shown, notes: [...notes, note] })
  }
}

function leftText({ left }: AppliedWorktree): string {
  return left.length === 0
    ? ''
    : ` Left as they are, because somebody changed them meanwhile: ${left.join(', ')}.`
}

function textIn(values: Values, key: string): string {
  const value = values[key]
  return typeof value === 'string' ? value.trim() : ''
}
