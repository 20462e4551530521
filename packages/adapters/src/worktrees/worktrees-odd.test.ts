import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { someOf } from '../../../protocol/test/search.ts'
import { HostileRepository, attacks } from '../../test/hostile-repository.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import { WorktreeRepository, begun } from '../../test/worktrees/repository.ts'
import { gitWorktrees } from './worktrees.ts'

const { signal } = new AbortController()

describe('[O50] a worktree that git knows', () => {
  needsGit()
  test('is listed by git, clean, and on its branch', async () => {
    const { repository, tree, inTree } = await begun()
    expect(repository.git('worktree', 'list', '--porcelain')).toContain(`worktree ${tree}\n`)
    expect(inTree('status', '--porcelain', '--branch')).toBe('## atrium/one')
    expect(repository.git('status', '--porcelain')).toBe('')
    expect(repository.git('worktree', 'prune', '-n')).toBe('')
    expect(repository.git('fsck')).toBe('')
  })

  test('begins in the folder that corresponds to the wanted one, where the user says', async () => {
    const repository = new WorktreeRepository()
    repository.put('deep/er/file', '1')
    await repository.commit()
    repository.put('new/file', '1')
    const path = join(newFolder(), 'sub', 'here')
    const create = (id: string, more: object) =>
      repository.worktrees.create({ id, directory: repository.root, ...more }, signal)
    const one = await create('one', { directory: repository.at('deep/er'), path })
    expect([one.path, one.directory]).toEqual([path, join(path, 'deep/er')])
    const two = await create('two', { directory: repository.at('new') })
    expect(two.directory).toBe(two.path)
    await expect(create('three', { path })).rejects.toThrow(/is not an empty folder/)
    await expect(create('three', { path: repository.at('x') })).rejects.toThrow(/is inside of the repository/)
    await expect(create('three', { path: 'x' })).rejects.toThrow(/must be an absolute path/)
  })

  test('[O56] [O56.2] is not placed in the data folder of the host, and has no copies of its files', async () => {
    const repository = new WorktreeRepository()
    const data = repository.at('data')
    repository.put('.gitignore', 'data\n.env\n')
    repository.put('.worktreeinclude', 'token\n.env\n')
    repository.put('data/token', 'secret')
    repository.put('.env', 'x')
    await repository.commit()
    const elsewhere = newFolder()
    mkdirSync(join(elsewhere, 'data/empty'), { recursive: true })
    symlinkSync(join(elsewhere, 'data/empty'), join(elsewhere, 'link'))
    const worktrees = gitWorktrees({
      folder: join(elsewhere, 'data/worktrees'),
      forbidden: [data, join(elsewhere, 'data')],
      user: repository.user,
    })
    const create = (path: string) => worktrees.create({ id: 'one', directory: repository.root, path }, signal)
    for (const path of ['data/x', 'data/empty', 'data/worktrees/trees/x', 'link', 'link/x'])
      await expect(create(join(elsewhere, path)), path).rejects.toThrow('is in the data folder of the host')
    const made = await create(join(elsewhere, 'outside'))
    expect(readFileSync(join(made.path, '.env'), 'utf8')).toBe('x')
    expect(existsSync(join(made.path, 'data'))).toBe(false)
  })

  test.each(['-x', 'a..b', 'a b', 'x.lock', '', 'HEAD', 'a\nb', 'a/'])(
    '[O50.2] has no branch %j',
    async (branch) => {
      const { repository, worktrees, root } = await begun()
      const wanted = { id: 'two', directory: root, branch }
      await expect(worktrees.create(wanted, signal)).rejects.toThrow(/cannot be the name of a branch/)
      expect(repository.git('branch', '--format=%(refname:short)').split('\n')).toEqual([
        'atrium/one',
        'main',
      ])
    },
  )

  test('has odd names of files and branches unchanged', async () => {
    const names = ['new\nline', '"q"', ' ', '-x', 'ü', ';id']
    const { worktrees, root, tree, inTree } = await begun((repository) => {
      for (const name of names) repository.put(`odd/${name}`, '1')
    })
    expect(readdirSync(join(tree, 'odd')).toSorted()).toEqual(names.toSorted())
    for (const name of names) writeFileSync(join(tree, 'odd', name), '2')
    inTree('add', '-A')
    inTree('commit', '-qm', 'x')
    expect((await worktrees.apply('one')).files.length).toBe(names.length)
    for (const name of names) expect(readFileSync(join(root, 'odd', name), 'utf8')).toBe('2')
    const odd = await worktrees.create({ id: 'two', directory: root, branch: 'ü/"x"' }, signal)
    expect(odd.branch).toBe('ü/"x"')
  })

  test('can begin from a worktree, to which it is applied', async () => {
    const { repository, worktrees, root, tree, worktree } = await begun()
    const second = await worktrees.create({ id: 'two', directory: tree }, signal)
    expect(second).toMatchObject({ main: tree, base: worktree.base })
    writeFileSync(join(second.path, 'a'), '2\n')
    repository.gitIn(second.path, 'commit', '-qam', 'x')
    await worktrees.apply('two')
    expect(readFileSync(join(tree, 'a'), 'utf8')).toBe('2\n')
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('1\n')
  })

  test('[O50.2] is not created in the middle of a merge or rebase, or outside of a repository', async () => {
    const { repository, worktrees, root } = await begun()
    const create = (directory = root) => worktrees.create({ id: 'two', directory }, signal)
    for (const [name, operation] of [
      ['MERGE_HEAD', 'merge'],
      ['rebase-merge', 'rebase'],
    ] as const) {
      repository.put(`.git/${name}`, '')
      await expect(create()).rejects.toThrow(`is in the middle of a ${operation}. Finish or abort it first.`)
      rmSync(repository.at(`.git/${name}`))
    }
    await expect(create(newFolder())).rejects.toThrow(/is in no git repository/)
    const none = gitWorktrees({ folder: newFolder(), path: '' })
    await expect(none.create({ id: 'x', directory: root }, signal)).rejects.toThrow('There is no git')
    expect(await none.recover()).toEqual([])
  })

  test('[O50.2] leaves nothing behind where it cannot be written', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may write everywhere')
    const { repository, worktrees, root } = await begun()
    const closed = newFolder()
    chmodSync(closed, 0o500)
    const wanted = { id: 'two', directory: root, path: join(closed, 'x') }
    await expect(worktrees.create(wanted, signal)).rejects.toThrow(
      /cannot be created: the permission is missing/,
    )
    chmodSync(closed, 0o700)
    expect(repository.git('branch', '--list', 'atrium/two')).toBe('')
    expect(existsSync(repository.at('.git/worktrees/atrium-two'))).toBe(false)
  })

  test('[O50.1] says that submodules are empty and that the main checkout is sparse', async () => {
    const repository = new WorktreeRepository()
    repository.put('a', '1')
    repository.put('sub/b', '1')
    const commit = await repository.commit()
    repository.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`)
    repository.git('commit', '-qm', 'x')
    mkdirSync(repository.at('module'), { recursive: true })
    repository.git('sparse-checkout', 'set', 'sub')
    const wanted = { id: 'one', directory: repository.root }
    const { notes, path } = await repository.worktrees.create(wanted, signal)
    expect(notes).toEqual([
      'The folders of submodules are empty in this worktree.',
      'The main checkout is sparse. This worktree has all of its files.',
    ])
    writeFileSync(join(path, 'a'), '2')
    await expect(repository.worktrees.apply('one')).rejects.toThrow(/is a sparse checkout/)
  })

  test.each(someOf(attacks, 6))(
    '[S-41b] [O14] [O50.1] runs no program of the repository: $name',
    async ({ prepare }) => {
      const hostile = new HostileRepository()
      await prepare(hostile)
      const worktrees = gitWorktrees({ folder: newFolder(), user: hostile.user })
      const wanted = { id: 'one', directory: hostile.root }
      const made = await worktrees.create(wanted, signal).catch(() => undefined)
      if (made) writeFileSync(join(made.path, 'file'), 'changed')
      await worktrees.apply('one').catch(() => {})
      await worktrees.remove('one').catch(() => {})
      expect(hostile.ran).toBe(false)
    },
  )
})

describe('[O52] a creation that was interrupted', () => {
  needsGit()
  test.each(['record', 'branch', 'files'])('after the %s is begun again', async (point) => {
    const repository = new WorktreeRepository()
    repository.put('a', '1\n')
    const base = await repository.commit()
    const wanted = { id: 'one', directory: repository.root }
    const { path } = await repository.worktrees.create(wanted, signal)
    const file = join(repository.folder, 'one.json')
    const record = JSON.parse(readFileSync(file, 'utf8')) as object
    writeFileSync(file, JSON.stringify({ ...record, phase: 'creating' }))
    const gitDir = repository.at('.git/worktrees/atrium-one')
    if (point !== 'files') for (const made of [path, gitDir]) rmSync(made, { recursive: true })
    else rmSync(join(path, 'a'))
    if (point === 'record') repository.git('update-ref', '-d', 'refs/heads/atrium/one')
    repository.put('a', '2\n')
    await repository.commit()
    const again = await repository.open().create(wanted, signal)
    expect([again.path, again.base]).toEqual([path, base])
    expect(readFileSync(join(path, 'a'), 'utf8')).toBe('1\n')
    expect(repository.gitIn(path, 'status', '--porcelain', '--branch')).toBe('## atrium/one')
  })
})

describe('[O55] a damaged file of the host', () => {
  needsGit()
  test('[O55.3] about one worktree is reported, and the other worktrees are recovered', async () => {
    const { repository, worktrees, root, write } = await begun()
    for (const id of ['two', 'three']) await worktrees.create({ id, directory: root }, signal)
    write('a', '2\n')
    mkdirSync(join(repository.folder, 'one.apply/stage'), { recursive: true })
    writeFileSync(join(repository.folder, 'one.apply/journal.json'), '{"id":"on')
    writeFileSync(join(repository.folder, 'two.json'), '\0\0\0')
    const third = join(repository.folder, 'three.json')
    const record = JSON.parse(readFileSync(third, 'utf8')) as object
    writeFileSync(third, JSON.stringify({ ...record, phase: 'removing' }))
    const next = repository.open()
    expect(await next.recover()).toEqual([
      { id: 'one', main: root, problem: expect.stringContaining('its journal is damaged') as string },
    ])
    // The damage is reported once. What it was about stays where a person can look at it.
    expect(await next.recover()).toEqual([])
    expect(readdirSync(repository.folder).toSorted()).toEqual([
      'one.apply-damaged',
      'one.json',
      'trees',
      'two.json',
    ])
    await expect(next.apply('two')).rejects.toThrow(
      'What the host has stored about this worktree is damaged.',
    )
    await next.apply('one')
    expect(readFileSync(repository.at('a'), 'utf8')).toBe('2\n')
  })
})
