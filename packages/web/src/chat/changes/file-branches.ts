/** A folder with what is in it, or a file. */
export interface Branch<F> {
  /** The name. A folder that has only one folder in it shares a branch with it: `src/chat`. */
  readonly name: string
  readonly file?: F
  readonly branches: readonly Branch<F>[]
}

interface Placed<F> {
  readonly path: string
  readonly file: F
}

/** The tree of these files: folders first, each by name. */
export function branchesOf<F>(files: readonly Placed<F>[]): readonly Branch<F>[] {
  const folders = new Map<string, Placed<F>[]>()
  const leaves: Branch<F>[] = []
  for (const { path, file } of files) {
    const slash = path.indexOf('/', 1)
    const inside = folders.get(path.slice(0, slash))
    const rest = { path: path.slice(slash + 1), file }
    if (slash < 0) leaves.push({ name: path, file, branches: [] })
    else if (inside) inside.push(rest)
    else folders.set(path.slice(0, slash), [rest])
  }
  const byName = (a: Branch<F>, b: Branch<F>) => a.name.localeCompare(b.name)
  const made = [...folders].map(([name, inside]) => joined({ name, branches: branchesOf(inside) }))
  return [...made.toSorted(byName), ...leaves.toSorted(byName)]
}

/** The files of a tree in its order. */
export function filesIn<F>(branches: readonly Branch<F>[]): readonly F[] {
  return branches.flatMap(({ file, branches: inside }) => (file === undefined ? filesIn(inside) : [file]))
}

function joined<F>(folder: Branch<F>): Branch<F> {
  const [only, ...others] = folder.branches
  if (!only || others.length > 0 || only.file !== undefined) return folder
  return { name: `${folder.name}/${only.name}`, branches: only.branches }
}
