import { WorktreeRefused } from '../../src/ports/worktrees.ts'
import type { Worktree, WorktreeState, Worktrees } from '../../src/ports/worktrees.ts'

type Recovered = Awaited<ReturnType<Worktrees['recover']>>

type Texts = ReadonlyMap<string, string>

interface Commit {
  readonly id: string
  readonly parents: readonly Commit[]
  readonly files: Texts
}

interface Tree {
  head: Commit | undefined
  files: Map<string, string>
}

/** Worktrees in memory: checkouts are maps of texts. */
export class FakeWorktrees implements Worktrees {
  readonly trees = new Map<string, Tree>()
  readonly #made = new Map<string, { readonly worktree: Worktree; applied?: Texts }>()
  readonly #branches = new Set<string>()
  #commits = 0
  /** The ids for which `create` was called. */
  readonly created: string[] = []
  /** Awaited by each creation. */
  gate: Promise<void> = Promise.resolve()
  /** What the next recovery finds. */
  interrupted: Recovered = []

  /** Adds a main checkout. */
  checkout(root: string): Tree {
    const tree: Tree = { head: undefined, files: new Map() }
    this.trees.set(root, tree)
    return tree
  }

  commit(root: string, others: readonly Commit[] = []): Commit {
    const tree = this.#tree(root)
    const parents = [...(tree.head ? [tree.head] : []), ...others]
    return (tree.head = { id: `commit${++this.#commits}`, parents, files: new Map(tree.files) })
  }

  async create({
    id,
    directory,
    branch = `atrium/${id}`,
    path = `/trees/${id}`,
  }: Parameters<Worktrees['create']>[0]) {
    this.created.push(id)
    await this.gate
    const earlier = this.#made.get(id)
    if (earlier) return earlier.worktree
    const main = [...this.trees.keys()].find((root) => directory === root || directory.startsWith(`${root}/`))
    if (main === undefined) throw new WorktreeRefused(`${directory} is in no git repository.`)
    const { head } = this.#tree(main)
    if (!head)
      throw new WorktreeRefused(`${main} has no commit yet, so a worktree has nothing to begin from.`)
    if (this.#branches.has(branch))
      throw new WorktreeRefused(`There is already a branch ${JSON.stringify(branch)}. Choose another name.`)
    this.#branches.add(branch)
    this.trees.set(path, { head, files: new Map(head.files) })
    const inside = directory.slice(main.length)
    const worktree = { id, path, directory: path + inside, main, branch, base: head.id, notes: [] }
    this.#made.set(id, { worktree })
    return worktree
  }

  async state(id: string): Promise<WorktreeState> {
    const { worktree, applied } = this.#require(id)
    const { head, files } = this.#tree(worktree.path)
    const changed = differences(head?.files ?? new Map(), files)
    const uncommitted = applied && changed.length > 0 ? differences(applied, files) : changed
    const known = ancestors(this.#tree(worktree.main).head)
    const unapplied = [...ancestors(head)].filter((commit) => !known.has(commit)).length
    return { worktree, mainBranch: 'main', uncommitted, unapplied, copies: [] }
  }

  async apply(id: string) {
    const made = this.#require(id)
    const { main, path } = made.worktree
    const [target, source] = [this.#tree(main), this.#tree(path)]
    const changes = differences(target.head?.files ?? new Map(), target.files)
    if (changes.length > 0)
      throw new WorktreeRefused(
        `${main} has ${changes.length} uncommitted changes. Commit or stash them first.`,
        changes,
      )
    const before = target.files
    const base = [...ancestors(source.head)].find((commit) => ancestors(target.head).has(commit))
    const ours = target.head?.files ?? new Map<string, string>()
    const committed = merge(base?.files ?? new Map(), ours, source.head?.files ?? new Map())
    const final = merge(base?.files ?? new Map(), ours, source.files)
    target.files = new Map(committed)
    if (source.head && !ancestors(target.head).has(source.head)) {
      if (target.head && ancestors(source.head).has(target.head)) target.head = source.head
      else this.commit(main, [source.head])
    }
    target.files = new Map(final)
    made.applied = new Map(source.files)
    const [files, uncommitted] = [differences(before, final), differences(committed, final)]
    return { id, main, commit: target.head?.id ?? '', files, uncommitted, left: [] }
  }

  async remove(id: string) {
    const made = this.#made.get(id)
    if (!made) return { branchDeleted: false }
    const { uncommitted, unapplied } = await this.state(id)
    const kept = `The worktree ${made.worktree.path} is kept, because it has`
    if (uncommitted.length > 0)
      throw new WorktreeRefused(
        `${kept} ${uncommitted.length} changed files that are not committed.`,
        uncommitted,
      )
    if (unapplied > 0)
      throw new WorktreeRefused(`${kept} ${unapplied} commits that the main checkout does not have.`)
    this.trees.delete(made.worktree.path)
    this.#made.delete(id)
    this.#branches.delete(made.worktree.branch)
    return { branchDeleted: true }
  }

  async recover() {
    const found = this.interrupted
    this.interrupted = []
    return found
  }

  #tree(root: string): Tree {
    const tree = this.trees.get(root)
    if (!tree) throw new Error(`no checkout ${root}`)
    return tree
  }

  #require(id: string) {
    const made = this.#made.get(id)
    if (!made) throw new WorktreeRefused('This session has no worktree.')
    return made
  }
}

/** A commit and everything before it, the newest first. */
function ancestors(commit: Commit | undefined, found = new Set<Commit>()): ReadonlySet<Commit> {
  if (!commit) return found
  found.add(commit)
  for (const parent of commit.parents) ancestors(parent, found)
  return found
}

function differences(one: Texts, other: Texts): readonly string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path))
}

function merge(base: Texts, ours: Texts, theirs: Texts): Texts {
  const merged = new Map(ours)
  const conflicts: string[] = []
  for (const path of differences(base, theirs)) {
    const text = theirs.get(path)
    if (ours.get(path) !== base.get(path) && ours.get(path) !== text) conflicts.push(path)
    else if (text === undefined) merged.delete(path)
    else merged.set(path, text)
  }
  if (conflicts.length === 0) return merged
  const list = conflicts.map((path) => JSON.stringify(path)).join(', ')
  throw new WorktreeRefused(
    `The changes conflict with those of the main checkout: ${list}. Nothing was changed.`,
    conflicts,
  )
}
