import { mkdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { CaptureFailed } from '@atrium/host/ports/captures'
import type { Capture, CaptureOptions } from '@atrium/host/ports/captures'
import { emptyTree } from './objects/trees.ts'
import { omittedMode, omittedOf, omittedReason, sizeText } from './omitted.ts'
import type { Place } from './place.ts'
import { OddRepository } from '../git/odd-files.ts'
import { codeOf } from '../process/error-code.ts'
import { packObjects } from './pack.ts'
import { isQuick, quickFiles, readBase, takeQuickly } from './quick.ts'
import { findChanges, inspect, isInTree, trackingOf } from './scan.ts'
import type { Scan } from './scan.ts'
import { seedIndex } from './seed.ts'
import type { CaptureStore, StoreState } from './store.ts'
import type { CaptureTools } from './tools.ts'
import { KindChanged, MissingTree } from './objects/tree-edit.ts'

/** Captures the files of a folder. Every failure is a sentence for users. */
export async function takeFiles(
  tools: CaptureTools,
  store: CaptureStore,
  place: Place,
  options: CaptureOptions,
): Promise<Capture> {
  try {
    return await takeChanged(tools, store, place, options)
  } catch (error) {
    if (error instanceof CaptureFailed || error instanceof OddRepository) throw error
    const code = codeOf(error)
    const full = code === 'ENOSPC' || code === 'EDQUOT'
    throw new CaptureFailed(
      full
        ? 'The disk on which the host records files is full.'
        : `The files could not be recorded (${code ?? 'unknown'}).`,
    )
  }
}

/** Captures a folder. If it is small and looks as it did before the last capture, returns that capture again. */
async function takeChanged(
  tools: CaptureTools,
  store: CaptureStore,
  place: Place,
  options: CaptureOptions,
): Promise<Capture> {
  await store.tidy(place)
  const state = store.readState()
  const { excludesFile } = await tools.settings()
  const tracking = trackingOf(place, excludesFile)
  const look = await store.unchanged.look(place, `${tracking} ${options.budget.fileBytes}`)
  const last = state && `${store.name}.${state.tree}`
  const unchanged = look && store.unchanged.capture(look, last)
  if (unchanged) return unchanged
  const capture = await takeOrAgain({ tools, store, place, options, excludesFile, tracking, state })
  if (look) store.unchanged.remember(look, capture)
  return capture
}

/** Captures with the index of the last capture, or else with a new index. */
async function takeOrAgain(taking: Taking): Promise<Capture> {
  const { tools, store, place, state } = taking
  if (state?.root === place.root && state.prefix === place.prefix) {
    try {
      return await takeWith(taking)
    } catch (error) {
      // Another attempt, with a new index, is made only if the index is damaged or its tree is gone. Any other error
      // is final.
      const list = ['ls-files', '-z', '--', '.']
      const index = await store.tryRun(list, { view: 'own', tree: { root: place.root } })
      if (index.exitCode === 0 && !(error instanceof MissingTree)) throw error
    }
  }
  await seedIndex(tools, store, place)
  return takeWith({ ...taking, state: undefined, last: state?.tree })
}

interface Taking {
  readonly tools: CaptureTools
  readonly store: CaptureStore
  readonly place: Place
  readonly options: CaptureOptions
  /** The path of the user's own list of ignored files: git's setting `core.excludesFile`. */
  readonly excludesFile: string
  /** A text that changes when the set of tracked or ignored files may have changed. */
  readonly tracking: string
  /** The data of the last capture. Undefined: the index has just been made. */
  readonly state: StoreState | undefined
  /** The tree of the last capture, for a taking without `state`. Default: the tree in `state`. */
  readonly last?: string | undefined
}

async function takeWith(taking: Taking): Promise<Capture> {
  const { tools, store, place, options, excludesFile, tracking, state, last = state?.tree } = taking
  const { signal, budget } = options
  let early: Promise<unknown> = Promise.resolve()
  const onChanged = (paths: readonly string[]) => {
    if (!state || paths.length > quickFiles || paths.some((path) => path.includes('\n'))) return
    early = readBase({ store, place, base: state.base, signal }, paths).catch(() => {})
  }
  const look = async (again: boolean) => {
    const changes = await findChanges(store, place, {
      excludes: excludesFile,
      tracking: again,
      signal,
      onChanged,
    })
    await early
    return changes
  }
  const first = await look(state !== undefined && state.tracking !== tracking)
  // If a `.gitignore` has changed, it may ignore files that are in the index. So git lists the ignored files too.
  const found =
    state && first.paths.some((path) => /(?:^|\/)\.gitignore$/.test(path)) ? await look(true) : first
  const own = `${relative(place.root, tools.folder)}/`
  const isForeign = (path: string) =>
    !path.startsWith(own) && !own.startsWith(path) && !/(?:^|\/)\.atrium-[\da-f]{16}\.tmp$/.test(path)
  const scan = await inspect(
    place,
    { ...found, paths: found.paths.filter((path) => isForeign(path)) },
    state ?? { omitted: [] },
    budget.fileBytes,
  )
  const written = await update(taking, { scan, last })
  const next: StoreState = {
    root: place.root,
    prefix: place.prefix,
    tree: written.tree,
    base: written.base,
    tracking,
    omitted: [...scan.omitted].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  }
  if (JSON.stringify(state) !== JSON.stringify(next)) await store.writeState(next)
  return {
    id: `${store.name}.${written.tree}`,
    directory: place.directory,
    bytes: written.bytes,
    omitted: next.omitted.map(([path, hash]) => ({
      path: path.slice(place.prefix.length).replace(/\/$/, ''),
      reason: omittedReason(omittedOf(hash) ?? { kind: 'unreadable', size: 0 }),
    })),
  }
}

interface Written {
  readonly tree: string
  /** The hash of the tree of the store's index. */
  readonly base: string
  readonly bytes: number
}

interface Update {
  readonly scan: Scan
  readonly last: string | undefined
}

/** Stores what is new, and returns the tree of the capture. */
async function update(taking: Taking, { scan, last }: Update): Promise<Written> {
  const { store, place, options, state } = taking
  if (scan.reindex || !isQuick(place, scan)) return updateIndex(taking, scan, last)
  const before = state ? { tree: state.base, bytes: 0 } : await storeTree(taking, undefined)
  const base = before.tree
  const changed = scan.paths.length + scan.removed.length + scan.omitted.size
  if (changed === 0) return { tree: base, base, bytes: before.bytes }
  const { budget, signal } = options
  try {
    const quick = await takeQuickly({ store, place, scan, budget, signal, base, last })
    return { tree: quick.tree, base, bytes: before.bytes + quick.bytes }
  } catch (error) {
    if (!(error instanceof KindChanged)) throw error
    return updateIndex(taking, scan, last)
  }
}

/** Brings the index up to date, and stores its tree. */
async function updateIndex(taking: Taking, scan: Scan, last: string | undefined): Promise<Written> {
  const { store, place, options } = taking
  const { budget, signal } = options
  if (scan.paths.length > budget.files)
    throw new CaptureFailed(
      `The host records at most ${budget.files} new or changed files at once, and there are ${scan.paths.length}.`,
    )
  if (scan.bytes > budget.bytes)
    throw new CaptureFailed(
      `The host records at most ${sizeText(budget.bytes)} of new or changed files at once, and there are ${sizeText(scan.bytes)}.`,
    )
  const set = [
    ...[...scan.omitted].flatMap(([path, hash]) =>
      isInTree(hash) ? [`${omittedMode} ${hash}\t${path}\0`] : [],
    ),
    ...scan.removed.map((path) => `0 ${'0'.repeat(place.hashLength * 2)}\t${path}\0`),
  ]
  const { tree, bytes } = await storeTree(taking, last, async (into) => {
    const writing = { view: 'own', into, tree: { root: place.root }, signal } as const
    const list = ['update-index', '-z', '--add', '--replace']
    if (set.length > 0) await store.run([...list, '--index-info'], { ...writing, input: set.join('') })
    if (scan.paths.length === 0) return
    const input = scan.paths.map((path) => `${path}\0`).join('')
    await store.run([...list, '--remove', '--stdin'], { ...writing, input })
  })
  return { tree, base: tree, bytes }
}

/**
 * Applies `change` to the index, and then stores the tree of the index. Git first writes the new objects into a folder of their
 * own.
 */
async function storeTree(
  { store, place, options }: Taking,
  last: string | undefined,
  change: (incoming: string) => Promise<void> = async () => {},
): Promise<{ readonly tree: string; readonly bytes: number }> {
  const { signal } = options
  const incoming = join(store.folder, 'incoming-objects')
  await mkdir(incoming, { recursive: true })
  try {
    await change(incoming)
    const prefix = place.prefix === '' ? [] : [`--prefix=${place.prefix}`]
    const { exitCode, stdout } = await store.tryRun(['write-tree', '--missing-ok', ...prefix], {
      view: 'all',
      into: incoming,
      tree: { root: place.root },
      signal,
    })
    if (exitCode !== 0 && prefix.length === 0) throw new CaptureFailed('The files could not be recorded.')
    // Git fails for a prefix without files. The tree is then empty.
    const tree = exitCode === 0 ? stdout.toString().trim() : emptyTree[place.format]
    if (tree === last) return { tree, bytes: 0 }
    return { tree, bytes: await packObjects(store, { place, incoming, before: last, after: tree, signal }) }
  } finally {
    await rm(incoming, { recursive: true, force: true })
  }
}
