import { worktreesOf } from '../../catalog/machine.ts'
import { worktreeIdsOf } from '../../catalog/machine.ts'
import type { ChangesetOperation } from '@atrium/protocol/changeset/state'
import { pathOf } from '@atrium/protocol/file-uri'
import { Activity, activityOf } from '@atrium/protocol/status'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { WorktreeRefused } from '../../ports/worktrees.ts'
import type { AppliedWorktree, WorktreeState, Worktrees } from '../../ports/worktrees.ts'
import { sessionsBeside, shownWorktree } from '../worktrees/worktrees.ts'
import type { RunningTurns } from './running/running-turns.ts'
import { listed } from './undo/listed.ts'

/** The id of the operation that applies the worktree of a session to the main checkout. */
export const applyId = 'apply'

/** The operation that applies a worktree, for a session that works in one. If it is disabled, its description says why. */
export async function applyOperations(
  core: Core,
  session: Channel<'session'>,
): Promise<readonly ChangesetOperation[]> {
  const own = worktreeOf(core, session)
  if (!own) return []
  const operation: ChangesetOperation = {
    id: applyId,
    label: 'Apply to Main Checkout',
    icon: 'git-merge',
    group: 'worktree',
    scopes: ['changeset'],
    status: 'disabled',
  }
  const activity = activityIn(core, session)
  if (activity !== undefined) return [{ ...operation, description: activity }]
  try {
    const state = await own.worktrees.state(own.id)
    if (state.uncommitted.length === 0 && state.unapplied === 0)
      return [{ ...operation, description: `There is nothing to apply: ${own.main} has all changes.` }]
    return [{ ...operation, status: 'idle', confirmation: confirmation(state) }]
  } catch (error) {
    if (!(error instanceof WorktreeRefused)) core.world.report('reading a worktree failed', error)
    const description =
      error instanceof WorktreeRefused ? error.message : 'The state of the worktree could not be read.'
    return [{ ...operation, description }]
  }
}

/**
 * Applies the worktree of a session. Returns what happened, as a text for users. `running`: the turns that run meanwhile. The
 * changes are not attributed to them.
 */
export async function applyWorktree(
  core: Core,
  session: Channel<'session'>,
  running: Pick<RunningTurns, 'changing'>,
): Promise<string> {
  const own = worktreeOf(core, session)
  if (!own) throw new WorktreeRefused('This session has no worktree.')
  const activity = activityIn(core, session)
  if (activity !== undefined) throw new WorktreeRefused(activity)
  const { worktrees, id, main } = own
  return resultOf(await running.changing([main], () => worktrees.apply(id)))
}

interface OwnWorktree {
  readonly worktrees: Worktrees
  readonly id: string
  readonly main: string
}

/** The worktree in which a session works. Undefined if it has none, or if the worktree is not ready yet. */
function worktreeOf(core: Core, session: Channel<'session'>): OwnWorktree | undefined {
  const id = worktreeIdsOf(core).get(session.uri)
  const main = shownWorktree(session.head)?.['main']
  const named = typeof main === 'string' ? pathOf(main) : undefined
  const worktrees = worktreesOf(core)
  return worktrees && id !== undefined && named?.ok ? { worktrees, id, main: named.path } : undefined
}

/**
 * Returns the reason why a worktree cannot be applied now: a turn is active in the session, or in another session
 * that works in the same worktree. Undefined if there is none. Only sessions in memory are asked, because a session
 * with an active turn is always in memory.
 */
function activityIn(core: Core, session: Channel<'session'>): string | undefined {
  if (isBusy(session)) return 'A turn is active in this session. Apply its changes when it has ended.'
  const others = sessionsBeside(core, session.uri).map((uri) => core.log.channel(uri, 'session'))
  return others.some((other) => other && isBusy(other))
    ? 'A turn is active in another session that works in this worktree. Apply its changes when it has ended.'
    : undefined
}

/** Whether a turn is active in a session. A turn that waits for an answer is active, too. */
function isBusy({ head }: Channel<'session'>): boolean {
  return head.chats.some(({ status }) => (activityOf(status) & Activity.InProgress) === Activity.InProgress)
}

function confirmation({ worktree, mainBranch, uncommitted }: WorktreeState): string {
  const target = mainBranch === undefined ? worktree.main : `the branch ${mainBranch} in ${worktree.main}`
  const text = `The changes of the branch ${worktree.branch} will be applied to ${target}.`
  return uncommitted.length === 0
    ? text
    : `${text} These are not committed, and will not be committed there: ${listed(uncommitted)}.`
}

function resultOf({ main, files, uncommitted, left }: AppliedWorktree): string {
  return [
    files.length === 0 ? `No file of ${main} had to change.` : `Changed in ${main}: ${listed(files)}.`,
    ...(uncommitted.length > 0 ? [`Not committed there: ${listed(uncommitted)}.`] : []),
    ...(left.length > 0
      ? [`Left as they are, because somebody changed them meanwhile: ${listed(left)}.`]
      : []),
  ].join(' ')
}
