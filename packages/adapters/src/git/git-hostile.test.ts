import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Repository, hasGit, newUser } from '../../test/repository.ts'
import { Trap, snares } from '../../test/hostile-repository.ts'
import { gitVcs } from './git.ts'

describe.runIf(hasGit)('[S-41b] [O14] looking at a repository runs nothing of it', () => {
  test.each(snares)('$name', async ({ set, live }) => {
    const trap = new Trap()
    await set(trap)
    await trap.askAll()
    expect(trap.sprung).toBe(false)
    // The trap is a real one.
    try {
      trap.git('status')
    } catch {
      // Some of them hurt.
    }
    if (live) expect(trap.sprung).toBe(true)
  })

  test('a filter that comes while git is asked finds nothing to do, for git never reads of it', async () => {
    const trap = new Trap()
    trap.put('.gitattributes', '* filter=late\n')
    await trap.commit()
    for (let i = 0; i < 10; i++) {
      trap.touch()
      const asked = trap.askAll()
      trap.put(
        '.git/config',
        `[core]\n\tfsmonitor = ${trap.script}\n[filter "late"]\n\tclean = ${trap.script}\n`,
      )
      await asked
    }
    expect(trap.sprung).toBe(false)
  })

  test('what a config includes is not read, wherever that is', async () => {
    const repository = new Repository()
    writeFileSync(join(repository.user.home, 'secret'), '[remote "x"]\n\turl = https://example.org/secret\n')
    repository.git('config', 'include.path', join(repository.user.home, 'secret'))
    expect((await repository.vcs.status(repository.root)).remotes).toEqual([])
  })

  test('filters that the user has set for themselves do not run either, and a repository works without', async () => {
    const trap = new Trap()
    trap.put('.gitattributes', '* filter=lfs\n')
    await trap.commit()
    const user = newUser(`[filter "lfs"]\n\tclean = ${trap.script}\n[core]\n\tfsmonitor = ${trap.script}\n`)
    trap.touch()
    expect((await gitVcs({ user }).status(trap.root)).changes).toEqual([])
    expect(trap.sprung).toBe(false)
  })

  test('what the user ignores everywhere is ignored', async () => {
    const repository = new Repository()
    repository.put('mine.swp', '1')
    repository.put('other', '1')
    const user = newUser('[core]\n\texcludesFile = ~/ignored\n')
    writeFileSync(join(user.home, 'ignored'), '*.swp\n')
    expect((await gitVcs({ user }).status(repository.root)).changes).toEqual([
      { path: 'other', type: 'added' },
    ])
    const plain = newUser()
    mkdirSync(join(plain.settings, 'git'), { recursive: true })
    writeFileSync(join(plain.settings, 'git', 'ignore'), 'other\n')
    expect(await gitVcs({ user: plain }).ignored(repository.root, ['other', 'mine.swp'])).toEqual(
      new Set(['other']),
    )
  })

  test('git never writes: the index stays as it was', async () => {
    const trap = new Trap()
    await trap.commit()
    trap.touch()
    const before = readFileSync(trap.at('.git/index'))
    await trap.askAll()
    expect(readFileSync(trap.at('.git/index')).equals(before)).toBe(true)
  })
})

describe.runIf(hasGit)('[S-40] [O14] names are names', () => {
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

  test('whatever they look like', async () => {
    const trap = new Trap()
    await trap.commit()
    for (const name of names) trap.put(`odd/${name}`, '1')
    for (const name of names) trap.put(name, '1')
    const all = [...names, ...names.map((name) => `odd/${name}`)].toSorted()
    const { changes } = await trap.vcs.status(trap.root)
    expect(changes.map(({ path }) => path).toSorted()).toEqual(all)
    expect((await trap.vcs.files(trap.root, 100)).toSorted()).toEqual(
      [...all, 'file', 'sub/file'].toSorted((a, b) => (a < b ? -1 : 1)),
    )
    trap.put('.gitignore', '/odd/*\n!/odd/;id\n')
    const ignored = await trap.vcs.ignored(trap.root, all)
    expect([...ignored].toSorted()).toEqual(
      all.filter((path) => path.startsWith('odd/') && path !== 'odd/;id'),
    )
    await trap.commit()
    for (const name of names) trap.put(name, '22')
    expect((await trap.vcs.status(trap.root)).changes.map(({ path }) => path).toSorted()).toEqual(
      names.toSorted(),
    )
  })

  test('one that is no text harms no other', async ({ skip }) => {
    if (process.platform !== 'linux') skip('names are text here')
    const trap = new Trap()
    writeFileSync(Buffer.concat([Buffer.from(`${trap.root}/odd-`), Buffer.from([0xff, 0xfe])]), '1')
    const { changes } = await trap.vcs.status(trap.root)
    expect(changes.map(({ path }) => path).toSorted()).toEqual(['file', 'odd-\ufffd\ufffd', 'sub/file'])
  })

  test('a path behind a link is not ignored, and not the end of the question', async () => {
    const trap = new Trap()
    trap.put('.gitignore', 'junk\n')
    symlinkSync('/etc', trap.at('way'))
    expect(await trap.vcs.ignored(trap.root, ['a/junk', 'way/junk', 'b/junk'])).toEqual(
      new Set(['a/junk', 'b/junk']),
    )
  })
})
