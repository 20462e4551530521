import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CaptureFailed, CaptureRefused } from '@atrium/host/ports/captures'
import type { Applied, Captures, FolderEdits } from '@atrium/host/ports/captures'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { LimitValues } from '@atrium/protocol/limits'
import { GitRunner } from '../git/run.ts'
import type { RunLimits } from '../git/run.ts'
import { OddRepository } from '../git/odd-files.ts'
import type { GitProcesses } from '../git/processes.ts'
import type { GitUser } from '../git/config.ts'
import { currentUser } from '../git/trusted.ts'
import { KeyedQueue } from '../process/keyed-queue.ts'
import { findProgram } from '../process/which.ts'
import { applyEdits, recoverEdits } from './apply/apply.ts'
import { Journal } from './apply/journal.ts'
import { keepOnly, mergePacks } from './collect.ts'
import { treeOfCommit } from './commits.ts'
import { compareCaptures } from './compare.ts'
import type { Judge } from './compare.ts'
import { judgeConverted } from './converted-changes.ts'
import { damagedRecord, nameOf, CaptureStore } from './store.ts'
import { placeOf } from './place.ts'
import type { Place } from './place.ts'
import { takeFiles } from './take.ts'
import { repositoryConfig, userSettings } from './tools.ts'
import type { CaptureTools } from './tools.ts'

export interface CapturesOptions {
  /** The folder for the captures of all folders. */
  readonly folder: string
  /** The directories in which `git` is looked for, in the form of PATH. Default: the PATH of this process. */
  readonly path?: string
  readonly user?: GitUser
  readonly limits?: CaptureLimits
  readonly processes?: GitProcesses
}

export type CaptureLimits = Pick<LimitValues, 'captureMs' | 'captureOutput' | 'vcsRuns'>

export function runLimits({ captureMs, captureOutput, vcsRuns }: CaptureLimits): RunLimits {
  return { vcsMs: captureMs, vcsBytes: captureOutput, vcsRuns }
}

/**
 * Makes captures by the `git` command, in an object store of our own for each folder. Nothing is written into the
 * user's repositories, and none of their programs runs (O23).
 */
export function gitCaptures(options: CapturesOptions): Captures {
  const { folder, path = process.env['PATH'] ?? '', processes } = options
  const { user = currentUser(), limits = defaultLimits } = options
  let found: Promise<CaptureTools> | undefined
  /** The tools, once they are found. A capture then asks the disk at once, because an agent waits for it. */
  let ready: CaptureTools | undefined
  const open = async (): Promise<CaptureTools> => {
    const program = await findProgram('git', path)
    if (program === undefined)
      throw new CaptureRefused(
        'The host records files with git, and found no git when it started. Install git, and start the host again.',
      )
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const git = new GitRunner(program, path, runLimits(limits), processes)
    ready = { git, user, folder, settings: userSettings(git, user), config: repositoryConfig(git) }
    return ready
  }
  const tools = () => (found ??= open())
  const queue = new KeyedQueue()
  /** The captures of this run, with the order in which they were taken. */
  const taken = new Map<string, number>()
  let order = 0

  /** The stores in use, by name. They are kept, because a store remembers what it has read. */
  const stores = new Map<string, CaptureStore>()
  const storeAt = async (git: GitRunner, place: Place): Promise<CaptureStore> => {
    const known = stores.get(nameOf(place))
    const store = known?.fits(place) ? known : await CaptureStore.at(git, folder, place)
    stores.set(store.name, store)
    return store
  }
  const storeOf = async (id: string) => {
    const [, name, hash, commit] = idForm.exec(id) ?? []
    if (name === undefined || hash === undefined) throw new CaptureFailed(damagedRecord)
    const store = stores.get(name) ?? (await CaptureStore.named((await tools()).git, folder, name))
    return { store, name, hash, isCommit: commit !== undefined }
  }

  const read = async (content: string): Promise<Uint8Array> => {
    const { store, hash } = await storeOf(content)
    const { exitCode, stdout } = await store.tryRun(['cat-file', 'blob', hash], { view: 'all' })
    if (exitCode !== 0) throw new CaptureFailed('The record of this content is damaged or was deleted.')
    return stdout
  }
  const applyAll = (groups: readonly FolderEdits[]): Promise<readonly Applied[]> => {
    // Every call enters its folders in the same order, sorted by path. So no two calls wait for each other.
    const enter = [...new Set(groups.map(({ directory }) => directory))].toSorted().reduceRight(
      (task, directory) => () => queue.run(directory, task),
      () => applyEdits(applying, groups),
    )
    return enter()
  }
  const applying = { journal: new Journal(join(folder, 'journal')), read }

  const take: Captures['take'] = async (directory, taking) => {
    if (taking.signal.aborted) throw new CaptureFailed('The capture was stopped.')
    const shared = ready ?? (await tools())
    const place = await placeOf(shared, directory)
    const capture = await queue.run(nameOf(place), async () => {
      const store = await storeAt(shared.git, place)
      const { of } = taking
      const made =
        of === 'files'
          ? await takeFiles(shared, store, place, taking)
          : {
              id: `${store.name}.${await treeOfCommit(shared, place, of)}.commit`,
              directory: place.directory,
              bytes: 0,
              omitted: [],
            }
      taken.set(made.id, ++order)
      return made
    })
    // The caller does not wait for the merge of the packs. If the merge fails, the packs stay as they are.
    const store = capture.bytes === 0 ? undefined : stores.get(nameOf(place))
    if (store) void queue.run(store.name, () => mergePacks(store, place.hashLength)).catch(() => {})
    return capture
  }
  const compare: Captures['compare'] = async (before, after) => {
    const [a, b] = [await storeOf(before), await storeOf(after)]
    if (a.name !== b.name) throw new CaptureFailed('The captures are of different folders.')
    const shared = await tools()
    // A commit has contents as git stores them, any other capture has the bytes on the disk. So a difference
    // between the two may be only a conversion of git, such as one of line ends. The judge finds this out.
    const judge: Judge | undefined =
      a.isCommit && !b.isCommit
        ? (changes, sizes) => judgeConverted(shared, a.store, changes, sizes)
        : undefined
    return queue.run(a.name, () => compareCaptures(a.store, [a.hash, b.hash], judge))
  }

  return {
    take: (directory, taking) => take(directory, taking).catch(explained),
    compare: (before, after) => compare(before, after).catch(explained),
    read: (content) => read(content).catch(explained),
    apply: async (directory, edits) => {
      const [applied] = await applyAll([{ directory, edits }])
      return applied ?? { directory, done: [], left: [] }
    },
    applyAll,
    recover: () => recoverEdits(applying),
    async collect(kept) {
      const before = order
      const names = await readdir(folder).catch(() => [])
      for (const name of names.filter((each) => /^[\da-f]{24}$/.test(each)))
        await queue.run(name, async () => {
          const fresh = [...taken].flatMap(([id, at]) => (at > before ? [id] : []))
          const trees = [...kept, ...fresh]
            .filter((id) => id.startsWith(`${name}.`))
            .flatMap((id) => idForm.exec(id)?.[2] ?? [])
          stores.delete(name)
          if (trees.length === 0) await rm(join(folder, name), { recursive: true, force: true })
          else await keepOnly(await CaptureStore.named((await tools()).git, folder, name), trees)
        })
      for (const [id, at] of taken) if (at <= before) taken.delete(id)
    },
  }
}

/**
 * An id consists of the name of a store and the hash of a tree. The id of a commit ends with `.commit`, because a
 * commit has contents as git stores them, which may differ from the bytes on the disk.
 */
const idForm = /^([\da-f]{24})\.([\da-f]{40}|[\da-f]{64})(\.commit)?$/

/** Says why git is not used in a repository as a failure of the capture. */
function explained(error: unknown): never {
  throw error instanceof OddRepository ? new CaptureFailed(error.message) : error
}
