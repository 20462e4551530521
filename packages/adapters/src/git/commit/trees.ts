import { CommitFailed } from '@atrium/host/ports/commits'
import { unreadable } from './checkout.ts'
import type { Checkout } from './checkout.ts'

/** Gives entries of an index the content of the files on the disk. Missing files lose their entries. */
export async function addFromDisk(
  checkout: Checkout,
  paths: readonly string[],
  index: string,
): Promise<void> {
  await refuseFilters(checkout, paths)
  const args = ['update-index', '--add', '--remove', '--replace', '-z', '--stdin']
  const input = listed(paths)
  await checkout.run(args, 'The files could not be staged.', { input, index })
}

/** Gives entries of an index the content of the last commit. */
export async function setBack(checkout: Checkout, paths: readonly string[], index: string): Promise<void> {
  const head = await checkout.head()
  const old = checkout.temp('head-index')
  await readTree(checkout, head, old)
  await setEntries(checkout, paths, { from: old, to: index })
}

/**
 * Makes the tree of a commit: the tree of the last commit (`base`), with some paths as they are in the index `from`,
 * or in the index of the repository if `from` is undefined. Other staged changes are not included.
 */
export async function treeWith(
  checkout: Checkout,
  base: string,
  paths: readonly string[],
  from: string | undefined,
): Promise<{ readonly id: string; readonly index: string }> {
  const index = checkout.temp('commit-index')
  await readTree(checkout, base, index)
  await setEntries(checkout, paths, { ...(from !== undefined && { from }), to: index })
  return { id: (await checkout.run(['write-tree'], unreadable, { index })).trim(), index }
}

/** Makes a commit that no branch has yet. Returns its id. */
export async function commitTree(
  checkout: Checkout,
  tree: string,
  message: string,
  parent: string | undefined,
): Promise<string> {
  const args = ['commit-tree', tree, ...(parent === undefined ? [] : ['-p', parent])]
  const { identity } = checkout.settings
  const made = await checkout.run(args, 'The commit could not be written.', {
    input: message,
    ...(identity && { env: identity }),
  })
  return made.trim()
}

async function readTree(checkout: Checkout, tree: string | undefined, index: string): Promise<void> {
  await checkout.run(['read-tree', tree ?? '--empty'], 'The last commit cannot be read.', { index })
}

/**
 * Copies the entries of some paths from one index to another. A path without an entry in the first index loses its entry in the
 * second.
 */
async function setEntries(
  checkout: Checkout,
  paths: readonly string[],
  { from, to }: { readonly from?: string; readonly to: string },
): Promise<void> {
  const entries = await checkout.entries(paths, from)
  const none = '0'.repeat((await checkout.emptyTree()).length)
  // Deletions come first, because a new folder may take the place of a deleted file.
  const gone = paths.filter((path) => !entries.has(path)).map((path) => `0 ${none}\t${path}\0`)
  const kept = [...entries].map(([path, { mode, hash }]) => `${mode} ${hash}\t${path}\0`)
  const input = [...gone, ...kept].join('')
  await checkout.run(['update-index', '-z', '--index-info'], unreadable, { input, index: to })
}

/**
 * Refuses files that need a filter. A filter is a program that a config names, so it is not run. Without the filter the content
 * would be wrong.
 */
async function refuseFilters(checkout: Checkout, paths: readonly string[]): Promise<void> {
  const args = ['check-attr', '-z', '--stdin', 'filter']
  const fields = (await checkout.run(args, unreadable, { input: listed(paths) })).split('\0')
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', , value = ''] = fields.slice(at, at + 3)
    if (value !== 'unspecified' && value !== 'unset')
      throw new CommitFailed(
        `${path} needs the filter ${value}, which the host does not run. Use git for it.`,
      )
  }
}

function listed(paths: readonly string[]): string {
  return paths.map((path) => `${path}\0`).join('')
}
