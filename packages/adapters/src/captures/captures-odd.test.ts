import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { CaptureFailed } from '@atrium/host/ports/captures'
import { amply, taking, textOf } from '../../../host/src/ports/contracts/captures.contract.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { TestRepository, needsGit, newFolder } from '../../test/repository.ts'

/** A repository, and a function that returns what a change of it changes in its captures. */
function opened(folder: DiskFolder = new DiskRepository()) {
  const take = (directory = folder.directory) => folder.captures.take(directory, taking())
  const changesOf = async (change: () => unknown, directory?: string) => {
    const before = await take(directory)
    await change()
    return folder.captures.compare(before.id, (await take(directory)).id)
  }
  const pathsOf = async (change: () => unknown) => (await changesOf(change)).map(({ path }) => path)
  return { folder, captures: folder.captures, take, changesOf, pathsOf }
}

const repository = () => {
  const made = new DiskRepository()
  return { ...opened(made), made, git: (...args: string[]) => made.repository.git(...args) }
}

describe('odd repositories', () => {
  needsGit()
  test('[O24] both sides of a change survive a git gc of the user', async () => {
    const { made, captures, changesOf, git } = repository()
    await made.write('deep/file', 'old\n')
    await made.commit()
    const changes = await changesOf(async () => {
      await made.write('deep/file', 'new\n')
      await made.commit()
    })
    git('reset', '-q', '--hard', 'HEAD')
    git('checkout', '-q', '--orphan', 'other')
    git('rm', '-rqf', '.')
    await made.write('x', '1')
    await made.commit()
    git('branch', '-D', 'main')
    git('reflog', 'expire', '--expire=now', '--all')
    git('gc', '-q', '--prune=now')
    expect(changes).toMatchObject([{ path: 'deep/file', added: 1, removed: 1 }])
    expect(await textOf(captures, changes[0]?.before)).toBe('old\n')
    expect(await textOf(captures, changes[0]?.after)).toBe('new\n')
  })

  test('[O24] two captures can be compared after the user’s repository is gone', async () => {
    const { made, captures, take } = repository()
    for (const path of ['deep/file', 'deep/same', 'other/same']) await made.write(path, `${path}\n`)
    await made.commit()
    const before = await take()
    await made.write('deep/file', 'new\n')
    const after = await take()
    rmSync(made.directory, { recursive: true })
    expect(await captures.compare(before.id, after.id)).toMatchObject([
      { path: 'deep/file', before: { size: 10 }, after: { size: 4 }, added: 1, removed: 1 },
    ])
  })

  test('[O23] [O16.1] files with a filter are captured with the bytes on the disk', async () => {
    const { made, captures, changesOf, git } = repository()
    git('config', 'filter.upper.clean', 'tr a-z A-Z')
    await made.write('.gitattributes', '*.big filter=upper\n*.txt text\n')
    await made.write('x.big', 'abc\n')
    await made.write('dos.txt', 'a\r\nb\r\n')
    await made.write('unix.txt', 'a\nb\n')
    await made.commit()
    const changes = await changesOf(async () => {
      for (const path of ['x.big', 'dos.txt', 'unix.txt']) await made.write(path, 'new\r\n')
    })
    const old = await Promise.all(changes.map(({ before }) => textOf(captures, before)))
    expect(old).toEqual(['a\r\nb\r\n', 'a\nb\n', 'abc\n'])
    for (const { after } of changes) expect(await textOf(captures, after)).toBe('new\r\n')
  })

  test('[O23] [O23.2] entries that git was told not to check are checked', async () => {
    const { made, pathsOf, git } = repository()
    for (const path of ['assumed', 'skipped', 'plain']) await made.write(path, '1')
    await made.commit()
    git('update-index', '--assume-unchanged', 'assumed')
    git('update-index', '--skip-worktree', 'skipped')
    expect(
      await pathsOf(async () => {
        for (const path of ['assumed', 'skipped', 'plain']) await made.write(path, '2')
      }),
    ).toEqual(['assumed', 'plain', 'skipped'])
  })

  test('[O23] [O23.2] a file that was changed at the moment of the user’s git add is seen', async () => {
    const { made, captures, take, git } = repository()
    await made.write('file', '1')
    await made.commit()
    const moment = new Date(Date.now() - 10_000)
    utimesSync(made.at('file'), moment, moment)
    git('add', 'file')
    utimesSync(made.at('.git/index'), moment, moment)
    writeFileSync(made.at('file'), '2')
    utimesSync(made.at('file'), moment, moment)
    const head = await captures.take(made.directory, taking({ of: 'head' }))
    expect(await captures.compare(head.id, (await take()).id)).toMatchObject([{ path: 'file' }])
  })

  test('[O23] [O23.3] a broken index of the repository, and of the store', async () => {
    const { made, captures, take, pathsOf } = repository()
    await made.write('a', '1')
    await made.commit()
    writeFileSync(made.at('.git/index'), 'DIRC broken')
    expect(await pathsOf(() => made.write('a', '2'))).toEqual(['a'])
    const before = await take()
    writeFileSync(join(made.data, before.id.split('.')[0] ?? '', 'index'), 'broken')
    await made.write('b', '1')
    expect(await captures.compare(before.id, (await take()).id)).toMatchObject([{ path: 'b' }])
  })

  test('[O16] the middle of a merge: the file with the conflict is captured as it is', async () => {
    const { made, captures, changesOf, git } = repository()
    await made.write('file', 'base\n')
    await made.commit()
    git('checkout', '-q', '-b', 'topic')
    await made.write('file', 'topic\n')
    await made.commit()
    git('checkout', '-q', 'main')
    await made.write('file', 'main\n')
    await made.commit()
    expect(() => git('merge', 'topic')).toThrow()
    const conflict = (await made.text('file')) ?? ''
    const changes = await changesOf(() => made.write('file', 'solved\n'))
    expect(await textOf(captures, changes[0]?.before)).toBe(conflict)
    expect(conflict).toContain('<<<<<<<')
  })

  test('[O17] [O23.1] submodules and nested repositories are named, and not looked into', async () => {
    const { made, take, pathsOf, git } = repository()
    const inner = new TestRepository()
    inner.put('file', '1')
    await inner.commit()
    git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.root, 'sub')
    await made.commit()
    new TestRepository(made.at('nested')).put('file', '1')
    expect((await take()).omitted).toEqual([
      { path: 'nested', reason: 'It is a repository of its own.' },
      { path: 'sub', reason: 'It is a repository of its own.' },
    ])
    expect(await pathsOf(() => made.write('sub/file', '2'))).toEqual([])
    const head = await made.captures.take(made.directory, taking({ of: 'head' }))
    expect(await made.captures.compare(head.id, (await take()).id)).toEqual([])
  })

  test('[O17] what git ignores changes with its lists, and tracked files are never ignored', async () => {
    const { made, pathsOf, git } = repository()
    await made.write('junk', '1')
    await made.write('forced', '1')
    await made.commit()
    await made.write('.git/info/exclude', 'later\n')
    await made.write('extra', '1')
    expect(await pathsOf(() => made.write('.gitignore', 'junk\nforced\nextra\n'))).toEqual([
      '.gitignore',
      'extra',
    ])
    expect(await pathsOf(() => made.write('junk', '2'))).toEqual(['junk'])
    expect(await pathsOf(() => made.write('later', '1'))).toEqual([])
    expect(await pathsOf(() => git('add', '-f', 'extra'))).toEqual(['extra'])
  })

  test('[O16] a folder of a repository has captures of its own, with the ignored files of the repository', async () => {
    const { made, take, captures, changesOf } = repository()
    await made.ignore('junk')
    await made.write('app/src/a', '1')
    await made.write('other', '1')
    await made.commit()
    const app = made.at('app')
    const changes = await changesOf(async () => {
      await made.write('app/src/a', '2')
      await made.write('app/junk', '1')
      await made.write('other', '2')
    }, app)
    expect(changes.map(({ path }) => path)).toEqual(['src/a'])
    const head = await captures.take(app, taking({ of: 'head' }))
    expect(await captures.compare(head.id, (await take(app)).id)).toMatchObject([{ path: 'src/a' }])
    rmSync(app, { recursive: true })
    mkdirSync(app)
    expect((await captures.compare(head.id, (await take(app)).id)).map(({ path }) => path)).toEqual(['src/a'])
  })

  test('[O16] a worktree, a sparse checkout and a repository with SHA-256', async () => {
    const { made, git, captures } = repository()
    for (const path of ['in/a', 'out/b']) await made.write(path, '1')
    await made.commit()
    const tree = join(newFolder(), 'worktree')
    git('worktree', 'add', '-q', tree)
    execFileSync('git', ['sparse-checkout', 'set', 'in'], { cwd: tree, stdio: 'pipe' })
    const worktree = opened(new DiskFolder(tree))
    expect(await worktree.changesOf(() => worktree.folder.write('in/a', '2'))).toMatchObject([
      { path: 'in/a' },
    ])
    expect(await captures.take(made.directory, taking())).toMatchObject({ omitted: [] })
    const root = newFolder()
    execFileSync('git', ['init', '-q', '--object-format=sha256'], { cwd: root, stdio: 'pipe' })
    const other = opened(new DiskFolder(root))
    await other.folder.write('a', '1')
    execFileSync('git', ['add', '-A'], { cwd: root, stdio: 'pipe' })
    expect(await other.changesOf(() => other.folder.write('a', '2'))).toMatchObject([{ path: 'a' }])
  })
})

describe('odd files and folders', () => {
  needsGit()
  test('[O17] [O16.1] FIFOs are left out, links are not followed, and a huge sparse file is named', async () => {
    const { folder, take, captures } = opened()
    await folder.write('tracked', '1')
    execFileSync('mkfifo', [folder.at('fifo')])
    const outside = newFolder()
    writeFileSync(join(outside, 'secret'), 'secret')
    symlinkSync(outside, folder.at('out'))
    writeFileSync(folder.at('sparse'), '')
    truncateSync(folder.at('sparse'), 2 ** 40)
    const before = await take()
    expect(before.omitted).toEqual([{ path: 'sparse', reason: 'It is too large to be recorded: 1 TiB.' }])
    rmSync(folder.at('tracked'))
    execFileSync('mkfifo', [folder.at('tracked')])
    const after = await take()
    expect(await captures.compare(before.id, after.id)).toMatchObject([
      { path: 'tracked', before: { size: 1 } },
    ])
    truncateSync(folder.at('sparse'), 1)
    const small = await take()
    expect(small.omitted).toEqual([])
    expect(await captures.compare(after.id, small.id)).toMatchObject([{ path: 'sparse', after: { size: 1 } }])
  })

  test('[O16] a file becomes a folder, and a folder a file or a link', async () => {
    const { folder, pathsOf } = opened()
    await folder.write('a', '1')
    await folder.write('b/c', '2')
    await folder.write('d/e', '3')
    const changed = await pathsOf(async () => {
      for (const path of ['a', 'b', 'd']) await folder.remove(path)
      await folder.write('a/x', 'new one')
      await folder.write('b', 'new two')
      await folder.write('d', '/etc', '120000')
    })
    expect(changed).toEqual(['a', 'a/x', 'b', 'b/c', 'd', 'd/e'])
  })

  test('[O16] a folder becomes a link that leads nowhere', async () => {
    const { folder, captures, take } = opened()
    await folder.write('d/e/f', '1')
    await (folder as DiskRepository).commit()
    const before = await take()
    await folder.remove('d')
    await folder.write('d', 'x'.repeat(400), '120000')
    const link = await take()
    await folder.remove('d')
    const after = await take()
    const pathsOf = async (a: string, b: string) => (await captures.compare(a, b)).map(({ path }) => path)
    expect(await pathsOf(before.id, link.id)).toEqual(['d', 'd/e/f'])
    expect(await pathsOf(link.id, after.id)).toEqual(['d'])
    expect(await pathsOf(before.id, after.id)).toEqual(['d/e/f'])
  })

  test('[O18] [O18.2] the home folder, what contains it, the root and a deleted folder are refused with a sentence', async () => {
    const { folder, captures, take } = opened()
    const { home } = folder.user
    for (const path of [home, dirname(home), '/', join(home, 'no', 'such')])
      await expect(captures.take(path, taking())).rejects.toThrow(CaptureFailed)
    await expect(captures.take(home, taking())).rejects.toThrow(
      'The files of the home folder are not recorded.',
    )
    await expect(captures.take('/', taking())).rejects.toThrow(
      'The files at the root of the file system are not recorded.',
    )
    await take()
    rmSync(folder.directory, { recursive: true })
    await expect(take()).rejects.toThrow(/^There is no folder .+\.$/)
  })

  test('[O16] the folder of the captures is not captured', async () => {
    const outer = new DiskFolder(newFolder())
    const inner = new DiskFolder(dirname(outer.data))
    await outer.captures.take(outer.directory, taking())
    await inner.write('file', '1')
    const captures = outer.captures
    const first = await captures.take(inner.directory, taking())
    expect((await captures.take(inner.directory, taking())).id).toBe(first.id)
  })

  test('[O18] a capture that was stopped leaves the next one whole', async () => {
    const { folder, captures, take } = opened()
    await folder.write('a', '1')
    const before = await take()
    for (let i = 0; i < 200; i++) await folder.write(`many/${i}`, `${i}`)
    const stop = new AbortController()
    const stopped = captures.take(folder.directory, taking({ signal: stop.signal, budget: amply }))
    setImmediate(() => stop.abort())
    await stopped.catch(() => {})
    expect(await captures.compare(before.id, (await take()).id)).toHaveLength(200)
  })
})
