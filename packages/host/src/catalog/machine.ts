import { defineKey } from '../kernel/key.ts'
import { part } from '../kernel/part.ts'
import type { Part } from '../kernel/part.ts'
import type { RecordMap } from '../kernel/record-map.ts'
import type { Commits } from '../ports/commits.ts'
import type { ContentEncoder } from '../ports/content-encoder.ts'
import type { Files } from '../ports/files.ts'
import type { HookRunner } from '../ports/hooks.ts'
import type { Terminals } from '../ports/terminals.ts'
import type { Vcs } from '../ports/vcs.ts'
import type { Worktrees } from '../ports/worktrees.ts'

/** What a host may be given of its machine. */
interface Ports {
  readonly files?: Files
  readonly terminals?: Terminals
  readonly vcs?: Vcs
  /** Absent: clients cannot stage or commit files. Works only together with captures. */
  readonly commits?: Commits
  /** Absent: hooks are not run. */
  readonly hooks?: HookRunner
  readonly encoder?: ContentEncoder
}

export const filesOf = defineKey<Files | undefined>('files')
export const terminalsOf = defineKey<Terminals | undefined>('terminals')
export const vcsOf = defineKey<Vcs | undefined>('version control')
export const worktreesOf = defineKey<Worktrees | undefined>('worktrees')
export const commitsOf = defineKey<Commits | undefined>('commits')
export const hooksOf = defineKey<HookRunner | undefined>('hooks')
export const encoderOf = defineKey<ContentEncoder | undefined>('encoder')

/** The id of each session's worktree, until the worktree is removed or given up. */
export const worktreeIdsOf = defineKey<RecordMap<string>>('worktree ids')

/** The files, shells and version control of the machine. Each is undefined if the host was started without it. */
export const machineParts: readonly Part<Ports>[] = [
  part<Files | undefined, Ports>({ name: 'files', key: filesOf, open: (_, { files }) => files }),
  part<Terminals | undefined, Ports>({
    name: 'terminals',
    key: terminalsOf,
    open: (_, { terminals }) => terminals,
  }),
  part<Vcs | undefined, Ports>({ name: 'version control', key: vcsOf, open: (_, { vcs }) => vcs }),
  part<Commits | undefined, Ports>({ name: 'commits', key: commitsOf, open: (_, { commits }) => commits }),
  part<HookRunner | undefined, Ports>({ name: 'hooks', key: hooksOf, open: (_, { hooks }) => hooks }),
  part<ContentEncoder | undefined, Ports>({
    name: 'encoder',
    key: encoderOf,
    open: (_, { encoder }) => encoder,
  }),
]
