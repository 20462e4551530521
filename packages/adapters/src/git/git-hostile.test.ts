import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TestRepository, needsGit, newUser } from '../../test/repository.ts'
import { HostileRepository, attacks } from '../../test/hostile-repository.ts'
import { gitVcs } from './git.ts'

describe('[S-41b] [O14] [O14.3] reading a repository runs no program that it names', () => {
  needsGit()
  test.each(attacks)('$name', async ({ prepare, worksOnPlainGit }) => {
    const hostile = new HostileRepository()
    await prepare(hostile)
    await hostile.runAllQueries()
    expect(hostile.ran).toBe(false)
    // Proves that the attack works on git without protection.
    try {
      hostile.git('status')
    } catch {
      // Some attacks make `git status` fail.
    }
    if (worksOnPlainGit) expect(hostile.ran).toBe(true)
  })

  test('a filter that is configured while git runs is not run', async () => {
    const hostile = new HostileRepository()
    hostile.put('.gitattributes', '* filter=late\n')
    await hostile.commit()
    for (let i = 0; i < 10; i++) {
      hostile.touch()
      const asked = hostile.runAllQueries()
      hostile.put(
        '.git/config',
        `[core]\n\tfsmonitor = ${hostile.script}\n[filter "late"]\n\tclean = ${hostile.script}\n`,
      )
      await asked
    }
    expect(hostile.ran).toBe(false)
  })

  test('[O14.2] a file that a config includes is not read', async () => {
    const repository = new TestRepository()
    writeFileSync(join(repository.user.home, 'secret'), '[remote "x"]\n\turl = https://example.org/secret\n')
    repository.git('config', 'include.path', join(repository.user.home, 'secret'))
    expect((await repository.vcs.status(repository.root)).remotes).toEqual([])
  })

  test('[O14.3] filters of the user config are not run, and the repository works without them', async () => {
    const hostile = new HostileRepository()
    hostile.put('.gitattributes', '* filter=lfs\n')
    await hostile.commit()
    const user = newUser(
      `[filter "lfs"]\n\tclean = ${hostile.script}\n[core]\n\tfsmonitor = ${hostile.script}\n`,
    )
    hostile.touch()
    expect((await gitVcs({ user }).status(hostile.root)).changes).toEqual([])
    expect(hostile.ran).toBe(false)
  })

  test('[O12] the excludes file of the user is applied', async () => {
    const repository = new TestRepository()
    repository.put('mine.swp', '1')
    repository.put('other', '1')
    const user = newUser('[core]\n\texcludesFile = ~/ignored\n')
    writeFileSync(join(user.home, 'ignored'), '*.swp\n')
    expect((await gitVcs({ user }).status(repository.root)).changes).toEqual([
      { path: 'other', type: 'added' },
    ])
    const plain = newUser()
    mkdirSync(join(plain.configHome, 'git'), { recursive: true })
    writeFileSync(join(plain.configHome, 'git', 'ignore'), 'other\n')
    expect(await gitVcs({ user: plain }).ignored(repository.root, ['other', 'mine.swp'])).toEqual(
      new Set(['other']),
    )
  })

  test('[O14.4] git does not write the index', async () => {
    const hostile = new HostileRepository()
    await hostile.commit()
    hostile.touch()
    const before = readFileSync(hostile.at('.git/index'))
    await hostile.runAllQueries()
    expect(readFileSync(hostile.at('.git/index')).equals(before)).toBe(true)
  })
})

describe('[S-40] [O14] hostile file names', () => {
  needsGit()
  const names = [
    'new\nline',
    '"quoted"',
    "it's",
    '--upload-pack=x',
    '-oProxyCommand=x',
    ';id',
    '$(id)',
    'a\tb',
    ' ',
    ':(top)x',
  ]

  test('are reported unchanged', async () => {
    const hostile = new HostileRepository()
    await hostile.commit()
    for (const name of names) hostile.put(`odd/${name}`, '1')
    for (const name of names) hostile.put(name, '1')
    const all = [...names, ...names.map((name) => `odd/${name}`)].toSorted()
    const { changes } = await hostile.vcs.status(hostile.root)
    expect(changes.map(({ path }) => path).toSorted()).toEqual(all)
    expect((await hostile.vcs.files(hostile.root, 100)).toSorted()).toEqual(
      [...all, 'file', 'sub/file'].toSorted((a, b) => (a < b ? -1 : 1)),
    )
    hostile.put('.gitignore', '/odd/*\n!/odd/;id\n')
    const ignored = await hostile.vcs.ignored(hostile.root, all)
    expect([...ignored].toSorted()).toEqual(
      all.filter((path) => path.startsWith('odd/') && path !== 'odd/;id'),
    )
    await hostile.commit()
    for (const name of names) hostile.put(name, '22')
    expect((await hostile.vcs.status(hostile.root)).changes.map(({ path }) => path).toSorted()).toEqual(
      names.toSorted(),
    )
  })

  test('a name with invalid UTF-8 does not affect other names', async ({ skip }) => {
    if (process.platform !== 'linux') skip('file names are UTF-8 on this system')
    const hostile = new HostileRepository()
    writeFileSync(Buffer.concat([Buffer.from(`${hostile.root}/odd-`), Buffer.from([0xff, 0xfe])]), '1')
    const { changes } = await hostile.vcs.status(hostile.root)
    expect(changes.map(({ path }) => path).toSorted()).toEqual(['file', 'odd-\ufffd\ufffd', 'sub/file'])
  })

  test('a path behind a link counts as not ignored, and the paths after it are checked', async () => {
    const hostile = new HostileRepository()
    hostile.put('.gitignore', 'junk\n')
    symlinkSync('/etc', hostile.at('way'))
    expect(await hostile.vcs.ignored(hostile.root, ['a/junk', 'way/junk', 'b/junk'])).toEqual(
      new Set(['a/junk', 'b/junk']),
    )
  })
})
