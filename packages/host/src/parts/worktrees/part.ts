import { isolationProperties } from '../agents/isolation.ts'
import { worktreeIdsOf, worktreesOf } from '../../catalog/machine.ts'
import { part } from '../../kernel/part.ts'
import { RecordMap, textFormat } from '../../kernel/record-map.ts'
import type { Worktrees } from '../../ports/worktrees.ts'

interface Ports {
  /** Absent: sessions work in their folders only. */
  readonly worktrees?: Worktrees
}

/** Sessions that work in a git worktree of their own. */
export const worktrees = part<Worktrees | undefined, Ports>({
  name: 'worktrees',
  key: worktreesOf,
  open: (_, ports) => ports.worktrees,
  settings: isolationProperties(),
})

/** The id of each session's worktree, also in a host that was started without worktrees. */
export const worktreeIds = part<RecordMap<string>>({
  name: 'worktree ids',
  key: worktreeIdsOf,
  open: ({ records }) => RecordMap.open(records, 'worktree/', textFormat),
})
