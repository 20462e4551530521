import { existsSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TestRepository, newFolder } from './repository.ts'

/** A repository that tries to run a script. The script creates the file `marker`. */
export class HostileRepository extends TestRepository {
  readonly marker = join(newFolder(), 'ran')
  readonly script = join(newFolder(), 'script')

  constructor(root?: string) {
    super(root)
    writeFileSync(this.script, `#!/bin/sh\ntouch '${this.marker}'\nexit 1\n`, { mode: 0o755 })
    this.put('file', '1')
    this.put('sub/file', '1')
  }

  /** Changes the time of a file and keeps its size, so that git must read the content again. */
  touch(path = 'file'): void {
    utimesSync(this.at(path), new Date(1e12), new Date(1e12))
  }

  get ran(): boolean {
    return existsSync(this.marker)
  }

  /** Calls every method of the port. */
  async runAllQueries(): Promise<void> {
    const root = await this.vcs.root(this.at('sub'))
    if (root === undefined) return
    await this.vcs.status(root).catch(() => {})
    await this.vcs.files(root, 100).catch(() => {})
    await this.vcs.ignored(root, ['file', 'sub/file', 'x']).catch(() => {})
  }
}

/**
 * A way to make git run a script. `worksOnPlainGit` tells whether `git status` without the adapter's protection runs the
 * script.
 */
export interface Attack {
  readonly name: string
  readonly worksOnPlainGit: boolean
  prepare(hostile: HostileRepository): Promise<void>
}

const config = (
  key: string,
  worksOnPlainGit = false,
  value?: (hostile: HostileRepository) => string,
): Attack => ({
  name: key,
  worksOnPlainGit,
  async prepare(hostile) {
    await hostile.commit()
    hostile.git('config', key, value ? value(hostile) : hostile.script)
    hostile.touch()
  },
})

const filter = (key: string, worksOnPlainGit = true): Attack => ({
  name: `filter ${key}`,
  worksOnPlainGit,
  async prepare(hostile) {
    hostile.put('.gitattributes', '* filter=x=y.z diff=x merge=x\n')
    await hostile.commit()
    hostile.git('config', `filter.x=y.z.${key}`, hostile.script)
    hostile.git('config', 'filter.x=y.z.required', 'true')
    hostile.touch()
  },
})

const hook = (name: string, worksOnPlainGit: boolean): Attack => ({
  name: `hook ${name}`,
  worksOnPlainGit,
  async prepare(hostile) {
    await hostile.commit()
    hostile.put(`.git/hooks/${name}`, `#!/bin/sh\ntouch '${hostile.marker}'\n`, 0o755)
    hostile.touch()
  },
})

export const attacks: readonly Attack[] = [
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
    worksOnPlainGit: true,
    async prepare(hostile) {
      await hostile.commit()
      hostile.put('evil/post-index-change', `#!/bin/sh\ntouch '${hostile.marker}'\n`, 0o755)
      hostile.git('config', 'core.hooksPath', 'evil')
      hostile.touch()
    },
  },
  {
    name: 'an included config',
    worksOnPlainGit: true,
    async prepare(hostile) {
      await hostile.commit()
      hostile.put('evil', `[core]\n\tfsmonitor = ${hostile.script}\n`)
      hostile.git('config', 'include.path', '../evil')
    },
  },
  {
    name: 'values that contain line breaks',
    worksOnPlainGit: false,
    async prepare(hostile) {
      hostile.put('.gitattributes', '* filter=x\n')
      await hostile.commit()
      const rest = `\\n[filter \\"x\\"]\\nclean = ${hostile.script}\\n[core]\\nx = `
      hostile.put(
        '.git/config',
        [
          `[core]\n\teol = "lf${rest}"\n\tfilemode = "true${rest}"\n[extensions]\n\tobjectformat = "sha1${rest}"\n`,
          `[branch "main"]\n\tremote = "a\\"${rest}"\n\tmerge = "refs/heads/main\\"${rest}"\n`,
          `[branch "main"]\n\tremote = "origin"\n[remote "origin"]\n\tfetch = "+refs/heads/*:refs/remotes/origin/*${rest}"\n`,
        ].join(''),
      )
      hostile.touch()
    },
  },
  {
    name: 'a config of the working tree',
    worksOnPlainGit: true,
    async prepare(hostile) {
      await hostile.commit()
      hostile.git('config', 'extensions.worktreeConfig', 'true')
      hostile.put('.git/config.worktree', `[core]\n\tfsmonitor = ${hostile.script}\n`)
    },
  },
  {
    name: 'a submodule with a config of its own',
    worksOnPlainGit: true,
    async prepare(hostile) {
      const inner = new TestRepository()
      inner.put('file', '1')
      await inner.commit()
      hostile.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.root, 'inner')
      await hostile.commit()
      hostile.put(
        '.git/modules/inner/config',
        `[core]\n\tworktree = ../../../inner\n\tfsmonitor = ${hostile.script}\n`,
      )
    },
  },
  {
    name: 'submodule URLs and names that are commands',
    worksOnPlainGit: false,
    async prepare(hostile) {
      const lines = [
        '--upload-pack=touch x',
        'ext::sh -c touch% x',
        '-oProxyCommand=touch x',
        'ssh://-oProxyCommand=x/y',
      ]
      hostile.put(
        '.gitmodules',
        lines
          .map(
            (url, i) =>
              `[submodule "${i}"]\n\tpath = m${i}\r\n\turl = "${url}"\n\tupdate = !${hostile.script}\n`,
          )
          .join(''),
      )
      await hostile.commit()
      for (const [i, url] of lines.entries()) hostile.git('config', `submodule.${i}.url`, url)
    },
  },
  {
    name: 'missing objects that a program fetches (partial clone)',
    worksOnPlainGit: true,
    async prepare(hostile) {
      await hostile.commit()
      const tree = hostile.git('rev-parse', 'HEAD^{tree}')
      rmSync(hostile.at(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`))
      for (const [key, value] of [
        ['remote.origin.url', hostile.root],
        ['remote.origin.promisor', 'true'],
        ['remote.origin.uploadpack', hostile.script],
        ['extensions.partialClone', 'origin'],
        ['core.repositoryFormatVersion', '1'],
      ] as const)
        hostile.git('config', key, value)
      hostile.git('update-ref', '--no-deref', 'HEAD', hostile.git('rev-parse', 'HEAD'))
      rmSync(hostile.at('.git/index'))
    },
  },
  {
    name: 'a working tree in another directory',
    worksOnPlainGit: true,
    async prepare(hostile) {
      await hostile.commit()
      hostile.git('config', 'core.worktree', newFolder())
      hostile.git('config', 'core.fsmonitor', hostile.script)
    },
  },
]
