import { mkdir, rm, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { CaptureFailed } from '@atrium/host/ports/captures'
import type { Capture, CaptureOptions } from '@atrium/host/ports/captures'
import { emptyTree } from './trees.ts'
import { omittedMode, omittedOf, omittedReason, sizeText } from './omitted.ts'
import type { Place } from './place.ts'
import { packObjects } from './pack.ts'
import { findChanges, inspect, isInTree, trackingOf } from './scan.ts'
import type { Scan } from './scan.ts'
import { seedIndex } from './seed.ts'
import type { CaptureStore, StoreState } from './store.ts'
import type { CaptureTools } from './tools.ts'

/** Captures the files of a folder: brings the index of the store up to date, and keeps its tree. */
export async function takeFiles(
  tools: CaptureTools,
  store: CaptureStore,
  place: Place,
  options: CaptureOptions,
): Promise<Capture> {
  await store.tidy()
  const state = await store.readState()
  if (state?.root === place.root && state.prefix === place.prefix) {
    try {
      return await takeWith({ tools, store, place, options, state })
    } catch (error) {
      // Only a damaged index is worth another attempt.
      const index = await store.tryRun(['ls-files', '-z', '--', '.'], {
        view: 'own',
        tree: { root: place.root },
      })
      if (index.exitCode === 0) throw error
    }
  }
  await linkExcludes(store, place)
  await seedIndex(tools, store, place)
  return takeWith({ tools, store, place, options, state: undefined, last: state?.tree })
}

interface Taking {
  readonly tools: CaptureTools
  readonly store: CaptureStore
  readonly place: Place
  readonly options: CaptureOptions
  /** Undefined: the index has just been made. */
  readonly state: StoreState | undefined
  /** The tree of the last capture. */
  readonly last?: string | undefined
}

async function takeWith(taking: Taking): Promise<Capture> {
  const { tools, store, place, options, state, last = state?.tree } = taking
  const { signal, budget } = options
  const { excludesFile } = await tools.settings()
  const tracking = await trackingOf(place, excludesFile)
  const look = (again: boolean) =>
    findChanges(store, place, { excludes: excludesFile, tracking: again, signal })
  const first = await look(state !== undefined && state.tracking !== tracking)
  // A changed list of ignored files in the tree may ignore files that are in the index.
  const found =
    state && first.paths.some((path) => /(?:^|\/)\.gitignore$/.test(path)) ? await look(true) : first
  const own = `${relative(place.root, tools.folder)}/`
  const outside = (path: string) =>
    !path.startsWith(own) && !own.startsWith(path) && !/(?:^|\/)\.atrium-[\da-f]{16}\.tmp$/.test(path)
  const scan = await inspect(
    place,
    { ...found, paths: found.paths.filter((path) => outside(path)) },
    state ?? { omitted: [] },
    budget.fileBytes,
  )
  if (scan.paths.length > budget.files)
    throw new CaptureFailed(
      `A capture may read ${budget.files} files, and ${scan.paths.length} have changed.`,
    )
  if (scan.bytes > budget.bytes)
    throw new CaptureFailed(
      `A capture may read ${sizeText(budget.bytes)}, and ${sizeText(scan.bytes)} have changed.`,
    )
  const before = await store.own.bytes()
  const tree = (await update(taking, scan, last)) ?? last ?? ''
  const next: StoreState = {
    root: place.root,
    prefix: place.prefix,
    tree,
    tracking,
    omitted: [...scan.omitted].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  }
  if (JSON.stringify(state) !== JSON.stringify(next)) await store.writeState(next)
  return {
    id: `${store.name}.${tree}`,
    directory: place.directory,
    bytes: Math.max(0, (await store.own.bytes()) - before),
    omitted: next.omitted.map(([path, hash]) => ({
      path: path.slice(place.prefix.length).replace(/\/$/, ''),
      reason: omittedReason(omittedOf(hash) ?? { kind: 'special', size: 0 }),
    })),
  }
}

/** Brings the index up to date, and stores what is new. Returns the tree; undefined if nothing has changed. */
async function update(
  { store, place, options, state }: Taking,
  scan: Scan,
  last: string | undefined,
): Promise<string | undefined> {
  const { signal } = options
  const old = new Map(state?.omitted)
  const placed = [...scan.omitted].filter(([path, hash]) => isInTree(hash) && old.get(path) !== hash)
  const set = [
    ...placed.map(([path, hash]) => `${omittedMode} ${hash}\t${path}\0`),
    ...scan.removed.map((path) => `0 ${'0'.repeat(place.hashLength * 2)}\t${path}\0`),
  ]
  if (state && scan.paths.length + set.length === 0) return undefined
  const incoming = join(store.folder, 'incoming-objects')
  await mkdir(incoming, { recursive: true })
  const tree = { root: place.root }
  try {
    const writing = { view: 'own', into: incoming, tree, signal } as const
    const list = ['update-index', '-z', '--add', '--replace']
    if (set.length > 0) await store.run([...list, '--index-info'], { ...writing, input: set.join('') })
    if (scan.paths.length > 0) {
      const input = scan.paths.map((path) => `${path}\0`).join('')
      await store.run([...list, '--remove', '--stdin'], { ...writing, input })
    }
    const prefix = place.prefix === '' ? [] : [`--prefix=${place.prefix}`]
    const written = await store.tryRun(['write-tree', '--missing-ok', ...prefix], { ...writing, view: 'all' })
    // Git knows no prefix without files.
    const hash = written.exitCode === 0 ? written.stdout.toString().trim() : emptyTree[place.format]
    if (written.exitCode !== 0 && prefix.length === 0)
      throw new CaptureFailed('The capture could not be written.')
    if (hash !== last) await packObjects(store, { place, incoming, before: last, after: hash, signal })
    return hash
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}

/** The list of ignored files of the repository counts in the store, too. */
async function linkExcludes(store: CaptureStore, { repository }: Place): Promise<void> {
  const link = join(store.gitDir, 'info', 'exclude')
  await rm(link, { force: true })
  if (repository) await symlink(join(repository.commonDir, 'info', 'exclude'), link)
}
