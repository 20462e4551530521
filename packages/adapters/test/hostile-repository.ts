import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Repository, newFolder } from './repository.ts'

/** A repository that wants to run something: then there is a file where there should be none. */
export class Trap extends Repository {
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
export interface Snare {
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

export const snares: readonly Snare[] = [
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
    name: 'values that break out of their line',
    live: false,
    async set(trap) {
      trap.put('.gitattributes', '* filter=x\n')
      await trap.commit()
      const rest = `\\n[filter \\"x\\"]\\nclean = ${trap.script}\\n[core]\\nx = `
      trap.put(
        '.git/config',
        [
          `[core]\n\teol = "lf${rest}"\n\tfilemode = "true${rest}"\n[extensions]\n\tobjectformat = "sha1${rest}"\n`,
          `[branch "main"]\n\tremote = "a\\"${rest}"\n\tmerge = "refs/heads/main\\"${rest}"\n`,
          `[branch "main"]\n\tremote = "origin"\n[remote "origin"]\n\tfetch = "+refs/heads/*:refs/remotes/origin/*${rest}"\n`,
        ].join(''),
      )
      trap.touch()
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
