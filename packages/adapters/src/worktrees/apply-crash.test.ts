import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { searchesInFull } from '../../../protocol/test/search.ts'
import { bundle } from '../../test/bundle.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import { begun } from '../../test/worktrees/repository.ts'

const module = await bundle('src/worktrees/worktrees.ts')

const child = fileURLToPath(new URL('../../test/worktrees/apply-child.mjs', import.meta.url))

/** A worktree with commits that must be merged, and with uncommitted changes; files and folders take the places of each other. */
async function changedWorktree() {
  const made = await begun((repository) => {
    for (const path of ['b', 'gone', 'was-file', 'was-folder/x/y', 'run']) repository.put(path, '1\n')
  })
  const { repository, tree, inTree, write, root } = made
  repository.put('mine', 'of the main checkout\n')
  await repository.commit()
  for (const path of ['a', 'b']) write(path, '2\n')
  for (const path of ['gone', 'was-file', 'was-folder']) rmSync(join(tree, path), { recursive: true })
  mkdirSync(join(tree, 'was-file/deep'), { recursive: true })
  write('was-file/deep/x', '2\n')
  write('was-folder', '2\n')
  chmodSync(join(tree, 'run'), 0o755)
  inTree('add', '-A')
  inTree('commit', '-qm', 'x')
  write('late', '2\n')
  write('b', '3\n')
  const before = stateOf(repository)
  const saved = join(newFolder(), 'saved')
  const places = { main: root, folder: repository.folder }
  for (const [name, path] of Object.entries(places))
    cpSync(path, join(saved, name), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  const reset = () => {
    for (const [name, path] of Object.entries(places)) {
      rmSync(path, { recursive: true, force: true })
      cpSync(join(saved, name), path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    }
  }
  return { ...made, before, reset }
}

type Changed = Awaited<ReturnType<typeof changedWorktree>>

/** All files of the main checkout, and what git says of them. The id of a merge commit depends on the clock; its parents do not. */
function stateOf(repository: Changed['repository']): string {
  const files = readdirSync(repository.root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && !join(entry.parentPath, '/').includes('/.git/'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => `${path}: ${readFileSync(path, 'utf8')}`)
  return [
    ...files,
    repository.git('log', '-1', '--format=%P %s %T'),
    repository.git('status', '--porcelain'),
    repository.git('fsck', '--no-dangling', '--no-progress'),
  ].join('\n')
}

function applyInChild({ repository }: Changed, killAt: number | 'part'): boolean {
  const { status, signal, stderr } = spawnSync(process.execPath, [child], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      MODULE: module,
      FOLDER: repository.folder,
      MAIN: repository.root,
      HOME: repository.user.home,
      KILL_AT: String(killAt),
    },
  })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr)
  return signal === 'SIGKILL'
}

/** Kills an application at each place, or at a sample of them. Returns the number of places. */
async function killEverywhere(
  changed: Changed,
  {
    strides,
    beforeStart = () => {},
  }: { strides: readonly [full: number, sample: number]; beforeStart?: () => void },
  check: (killed: boolean, applied: readonly object[]) => void,
): Promise<number> {
  let place = 1
  for (; ; place += strides[searchesInFull ? 0 : 1]) {
    changed.reset()
    const killed = applyInChild(changed, place)
    beforeStart()
    const worktrees = changed.repository.open()
    check(killed, await worktrees.recover())
    expect(await worktrees.recover()).toEqual([])
    const names = readdirSync(changed.repository.folder).filter((name) => !/^(one\.json|trees)$/.test(name))
    expect(names, `killed before change ${place}`).toEqual([])
    if (!killed) return place
  }
}

describe('[O55] a host that is killed while it applies a worktree', () => {
  needsGit()

  test('has applied all of it after the next start, or nothing, wherever it is killed', async () => {
    const changed = await changedWorktree()
    expect(applyInChild(changed, 0)).toBe(false)
    const after = stateOf(changed.repository)
    const seen = { nothing: 0, all: 0 }
    const places = await killEverywhere(changed, { strides: [7, 13] }, (killed, applied) => {
      const state = stateOf(changed.repository)
      const outcome = killed && applied.length === 0 && state === changed.before ? 'nothing' : 'all'
      expect(state).toBe(outcome === 'all' ? after : changed.before)
      for (const each of applied) expect(each).toMatchObject({ left: [] })
      seen[outcome]++
    })
    console.log(`${places} places of a kill: ${seen.nothing} applied nothing, ${seen.all} everything`)
    expect(seen.nothing).toBeGreaterThan(2)
    expect(seen.all).toBeGreaterThan(2)
  })

  test('leaves what a person has changed before the next start, and lists it', async () => {
    const changed = await changedWorktree()
    const { repository } = changed
    const person = { a: 'of a person\n', late: 'of a person\n', 'was-file': 'of a person\n' }
    const beforeStart = () => {
      for (const [path, text] of Object.entries(person)) {
        rmSync(repository.at(path), { recursive: true, force: true })
        writeFileSync(repository.at(path), text)
      }
      repository.git('add', 'late')
    }
    let listed = 0
    await killEverywhere(changed, { strides: [17, 31], beforeStart }, (killed, applied) => {
      for (const [path, text] of Object.entries(person))
        expect(readFileSync(repository.at(path), 'utf8')).toBe(text)
      expect(repository.git('diff', '--cached', '--name-only')).toContain('late')
      if (!killed || applied.length === 0) return
      const [{ left }] = applied as readonly [{ readonly left: readonly string[] }]
      expect(left.toSorted()).toEqual(['a', 'late', 'was-file', 'was-file/deep/x'])
      listed++
    })
    expect(listed).toBeGreaterThan(0)
  })

  test('[O55.1] applies nothing if somebody has committed before the first file was changed', async () => {
    const changed = await changedWorktree()
    const { repository } = changed
    expect(applyInChild(changed, 'part')).toBe(true)
    expect(existsSync(join(repository.folder, 'one.apply/journal.json'))).toBe(true)
    repository.put('mine', 'committed meanwhile\n')
    repository.git('commit', '-qm', 'mine', 'mine')
    expect(await repository.open().recover()).toEqual([])
    expect(repository.git('show', 'HEAD:mine')).toBe('committed meanwhile')
    expect(repository.git('status', '--porcelain')).toBe('')
    expect(readFileSync(repository.at('a'), 'utf8')).toBe('1\n')
    expect(await repository.open().apply('one')).toMatchObject({ left: [] })
    expect(readFileSync(repository.at('a'), 'utf8')).toBe('2\n')
  })
})
