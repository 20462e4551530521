import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Repository, hasGit, newFolder, newUser } from '../test/repository.ts'
import { gitVcs } from './vcs-git.ts'

/** A repository that wants to run something: then there is a file where there should be none. */
class Trap extends Repository {
  readonly marker = join(newFolder(), 'ran')
  readonly script = join(newFolder(), 'script')

  constructor(root?: string) {
    super(root)
    writeFileSync(this.script, `#!/bin/sh\ntouch '${this.marker}'\nexit 1\n`, { mode: 0o755 })
    this.put('file', '1')
    this.put('sub/file', '1')
  }

  /** It is looked at again: its size is as before, and its time is not. */
  touch(path = 'file'): void {
    utimesSync(this.at(path), new Date(1e12), new Date(1e12))
  }

  get sprung(): boolean {
    return existsSync(this.marker)
  }

  /** Asks everything that can be asked. */
  async askAll(): Promise<void> {
    const root = await this.vcs.root(this.at('sub'))
    if (root === undefined) return
    await this.vcs.status(root).catch(() => {})
    await this.vcs.files(root, 100).catch(() => {})
    await this.vcs.ignored(root, ['file', 'sub/file', 'x']).catch(() => {})
  }
}

/** How a trap is set. `live`: git as a careless person runs it walks into it. */
interface Snare {
  readonly name: string
  readonly live: boolean
  set(trap: Trap): Promise<void>
}

const config = (key: string, live = false, value?: (trap: Trap) => string): Snare => ({
  name: key,
  live,
  async set(trap) {
    await trap.commit()
    trap.git('config', key, value ? value(trap) : trap.script)
    trap.touch()
  },
})

const filter = (key: string, live = true): Snare => ({
  name: `filter ${key}`,
  live,
  async set(trap) {
    trap.put('.gitattributes', '* filter=x=y.z diff=x merge=x\n')
    await trap.commit()
    trap.git('config', `filter.x=y.z.${key}`, trap.script)
    trap.git('config', 'filter.x=y.z.required', 'true')
    trap.touch()
  },
})

const hook = (name: string, live: boolean): Snare => ({
  name: `hook ${name}`,
  live,
  async set(trap) {
    await trap.commit()
    trap.put(`.git/hooks/${name}`, `#!/bin/sh\ntouch '${trap.marker}'\n`, 0o755)
    trap.touch()
  },
})

const snares: readonly Snare[] = [
  config('core.fsmonitor', true),
  config('core.sshCommand'),
  config('core.pager'),
  config('core.editor'),
  config('core.askPass'),
  config('core.gitProxy'),
  config('core.alternateRefsCommand'),
  config('pager.status', false),
  config('diff.external'),
  config('diff.x.textconv'),
  config('diff.x.command'),
  config('merge.x.driver'),
  config('credential.helper', false, ({ script }) => `!${script}`),
  config('gpg.program'),
  config('gpg.ssh.program'),
  config('alias.status', false, ({ script }) => `!${script}`),
  config('alias.ls-files', false, ({ script }) => `!${script}`),
  config('remote.origin.uploadpack'),
  config('uploadpack.packObjectsHook'),
  config('interactive.diffFilter'),
  config('submodule.sub.update', false, ({ script }) => `!${script}`),
  filter('clean'),
  filter('process'),
  filter('smudge', false),
  hook('post-index-change', true),
  hook('fsmonitor-watchman', false),
  hook('pre-commit', false),
  hook('reference-transaction', false),
  {
    name: 'core.hooksPath',
    live: true,
    async set(trap) {
      await trap.commit()
      trap.put('evil/post-index-change', `#!/bin/sh\ntouch '${trap.marker}'\n`, 0o755)
      trap.git('config', 'core.hooksPath', 'evil')
      trap.touch()
    },
  },
  {
    name: 'a config that another includes',
    live: true,
    async set(trap) {
      await trap.commit()
      trap.put('evil', `[core]\n\tfsmonitor = ${trap.script}\n`)
      trap.git('config', 'include.path', '../evil')
    },
  },
  {
    name: 'a config of the tree alone',
    live: true,
    async set(trap) {
      await trap.commit()
      trap.git('config', 'extensions.worktreeConfig', 'true')
      trap.put('.git/config.worktree', `[core]\n\tfsmonitor = ${trap.script}\n`)
    },
  },
  {
    name: 'a submodule with a config of its own',
    live: true,
    async set(trap) {
      const inner = new Repository()
      inner.put('file', '1')
      await inner.commit()
      trap.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.root, 'inner')
      await trap.commit()
      trap.put(
        '.git/modules/inner/config',
        `[core]\n\tworktree = ../../../inner\n\tfsmonitor = ${trap.script}\n`,
      )
    },
  },
  {
    name: 'submodule urls and names that are commands',
    live: false,
    async set(trap) {
      const lines = [
        '--upload-pack=touch x',
        'ext::sh -c touch% x',
        '-oProxyCommand=touch x',
        'ssh://-oProxyCommand=x/y',
      ]
      trap.put(
        '.gitmodules',
        lines
          .map(
            (url, i) =>
              `[submodule "${i}"]\n\tpath = m${i}\r\n\turl = "${url}"\n\tupdate = !${trap.script}\n`,
          )
          .join(''),
      )
      await trap.commit()
      for (const [i, url] of lines.entries()) trap.git('config', `submodule.${i}.url`, url)
    },
  },
  {
    name: 'commits that are to be fetched by a program',
    live: true,
    async set(trap) {
      await trap.commit()
      const tree = trap.git('rev-parse', 'HEAD^{tree}')
      rmSync(trap.at(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`))
      for (const [key, value] of [
        ['remote.origin.url', trap.root],
        ['remote.origin.promisor', 'true'],
        ['remote.origin.uploadpack', trap.script],
        ['extensions.partialClone', 'origin'],
        ['core.repositoryFormatVersion', '1'],
      ] as const)
        trap.git('config', key, value)
      trap.git('update-ref', '--no-deref', 'HEAD', trap.git('rev-parse', 'HEAD'))
      rmSync(trap.at('.git/index'))
    },
  },
  {
    name: 'a tree that is somewhere else',
    live: true,
    async set(trap) {
      await trap.commit()
      trap.git('config', 'core.worktree', newFolder())
      trap.git('config', 'core.fsmonitor', trap.script)
    },
  },
]

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
    expect((await trap.vcs.files(trap.root, 100)).toSorted()).toEqual([...all, 'file', 'sub/file'].toSorted())
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

describe.runIf(hasGit)('[S-41b] [O10] what is believed to be a repository', () => {
  test('not a .git file that leads elsewhere', async () => {
    const other = new Trap()
    await other.commit()
    other.git('config', 'core.fsmonitor', other.script)
    const tree = newFolder()
    writeFileSync(join(tree, '.git'), `gitdir: ${other.at('.git')}\n`)
    expect(await other.vcs.root(tree)).toBeUndefined()
    rmSync(join(tree, '.git'))
    symlinkSync(other.at('.git'), join(tree, '.git'))
    expect(await other.vcs.root(tree)).toBeUndefined()
    expect(other.sprung).toBe(false)
  })

  test('a tree beside the main one and a submodule, for their other ends know of them', async () => {
    const main = new Repository()
    main.put('file', '1')
    await main.commit()
    const beside = join(newFolder(), 'beside')
    main.git('worktree', 'add', '-q', '-b', 'topic', beside)
    expect(await main.vcs.root(beside)).toBe(beside)
    writeFileSync(join(beside, 'new'), '1')
    expect(await main.vcs.status(beside)).toMatchObject({
      branch: 'topic',
      changes: [{ path: 'new', type: 'added' }],
    })
    const outer = new Repository()
    outer.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', main.root, 'inner')
    expect(await main.vcs.root(outer.at('inner'))).toBe(outer.at('inner'))
    expect(await main.vcs.status(outer.at('inner'))).toMatchObject({ branch: 'main', changes: [] })
    expect((await main.vcs.files(outer.root, 10)).toSorted()).toEqual(['.gitmodules'])
    expect(await main.vcs.ignored(outer.root, ['inner/file', 'x'])).toEqual(new Set())
  })

  test('not one without a tree, in the middle of another', async () => {
    const trap = new Trap()
    await trap.commit()
    const bare = trap.at('sub/bare')
    cpSync(trap.at('.git'), bare, { recursive: true })
    writeFileSync(
      join(bare, 'config'),
      `[core]\n\tbare = true\n\tworktree = .\n\tfsmonitor = ${trap.script}\n`,
    )
    expect(await trap.vcs.root(bare)).toBe(trap.root)
    await trap.vcs.status(trap.root)
    const alone = newFolder()
    cpSync(bare, alone, { recursive: true })
    expect(await trap.vcs.root(alone)).toBeUndefined()
    expect(trap.sprung).toBe(false)
  })

  test('an empty .git is none, and what is above it counts', async () => {
    const repository = new Repository()
    mkdirSync(repository.at('a/.git'), { recursive: true })
    expect(await repository.vcs.root(repository.at('a'))).toBe(repository.root)
  })

  test('not one that belongs to somebody else, unless the user says that it is safe', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('not root')
    const repository = new Repository()
    for (const path of ['', '.git']) {
      chownSync(repository.at(path), 12_345, 12_345)
      expect(await repository.vcs.root(repository.root)).toBeUndefined()
      await expect(repository.vcs.status(repository.root)).rejects.toThrow()
      const trusting = (path: string) => gitVcs({ user: newUser(`[safe]\n\tdirectory = ${path}\n`) })
      expect(await trusting('*').root(repository.root)).toBe(repository.root)
      expect(await trusting(repository.root).root(repository.root)).toBe(repository.root)
      expect(await trusting(`${repository.root}/x`).root(repository.root)).toBeUndefined()
      expect(await trusting(`*\n\tdirectory =`).root(repository.root)).toBeUndefined()
      chownSync(repository.at(path), 0, 0)
    }
  })
})
