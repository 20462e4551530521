import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CommitFailed } from '@atrium/host/ports/commits'
import { CommitRepository } from '../../../test/commits/commit-repository.ts'
import { needsGit, newFolder } from '../../../test/repository.ts'
import { gitCommits } from './commits.ts'

needsGit()

/** A repository with one committed file, which is then changed. */
async function changed(): Promise<CommitRepository> {
  const repository = new CommitRepository()
  repository.put('a', '1\n')
  await repository.commit()
  repository.put('a', '2\n')
  return repository
}

/** Checks that a commit is refused with a sentence, and that nothing in the repository has changed. */
async function isRefused(repository: CommitRepository, why: string, paths: readonly string[] = ['a']) {
  const git = join(repository.root, '.git')
  const index = () => (existsSync(join(git, 'index')) ? readFileSync(join(git, 'index'), 'latin1') : '')
  const refs = () => [repository.git('for-each-ref'), readFileSync(join(git, 'HEAD'), 'utf8')]
  const [before, refsBefore] = [index(), refs()]
  const committing = repository.commits.commit(repository.root, { message: 'x', paths })
  await expect(committing).rejects.toBeInstanceOf(CommitFailed)
  await expect(committing).rejects.toThrow(why)
  await expect(committing).rejects.toThrow(/^[\w`].+\.$/s)
  expect([index(), refs()]).toEqual([before, refsBefore])
}

test.each([
  ['MERGE_HEAD', 'the middle of a merge'],
  ['rebase-merge', 'the middle of a rebase'],
  ['rebase-apply', 'the middle of a rebase'],
  ['CHERRY_PICK_HEAD', 'the middle of a cherry-pick'],
  ['REVERT_HEAD', 'the middle of a revert'],
  ['index.lock', 'Another git command'],
])('[O43] with %s in the repository nothing is committed or staged', async (name, why) => {
  const repository = await changed()
  writeFileSync(join(repository.root, '.git', name), '')
  await isRefused(repository, why)
  await expect(repository.commits.stage(repository.root, ['a'])).rejects.toThrow(why)
})

test('[O43] a detached HEAD, no name, signed commits, a broken index, a broken branch and a filter are refused', async () => {
  const detached = await changed()
  detached.git('checkout', '-q', '--detach')
  await isRefused(detached, 'No branch is checked out')
  const nobody = await changed()
  nobody.git('config', '--unset', 'user.email')
  await isRefused(nobody, 'user.name and user.email')
  const signed = await changed()
  signed.git('config', 'commit.gpgSign', 'true')
  await isRefused(signed, 'signed commits')
  const filtered = await changed()
  filtered.put('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
  filtered.put('x.bin', 'large')
  await isRefused(filtered, 'x.bin needs the filter lfs', ['a', 'x.bin'])
  await expect(filtered.commits.stage(filtered.root, ['x.bin'])).rejects.toThrow('filter lfs')
  const unclear = await changed()
  writeFileSync(join(unclear.user.home, '.gitconfig'), '[user\nname = x')
  const committing = unclear.commits.commit(unclear.root, { message: 'x', paths: ['a'] })
  await expect(committing).rejects.toThrow('Your git config cannot be read.')
  const broken = await changed()
  writeFileSync(join(broken.root, '.git', 'index'), 'DIRC, but not an index')
  await expect(broken.commits.commit(broken.root, { message: 'x', paths: ['a'] })).rejects.toThrow('index')
  await expect(broken.commits.stage(broken.root, ['a'])).rejects.toThrow('index')
  await expect(broken.commits.staged(broken.root)).rejects.toThrow(CommitFailed)
})

test('[O43] a conflict in the index is left to the user', async () => {
  const repository = await changed()
  repository.git('stash')
  repository.put('a', '3\n')
  await repository.commit()
  expect(() => repository.git('stash', 'pop')).toThrow()
  await isRefused(repository, 'a conflict in a')
  await expect(repository.commits.stage(repository.root, ['a'])).rejects.toThrow('conflict')
  await expect(repository.commits.commit(repository.root, { message: 'x' })).rejects.toThrow('conflict')
})

test('[O43.1] [O43] no hook, filter or other program of the repository or of the user runs', async () => {
  const repository = await changed()
  const trap = repository.put('.git/trap', '#!/bin/sh\ntouch "$(dirname "$0")/sprung"\nexec cat\n', 0o755)
  for (const hook of [
    'pre-commit',
    'commit-msg',
    'post-commit',
    'post-index-change',
    'reference-transaction',
  ]) {
    mkdirSync(join(repository.root, '.git', 'hooks'), { recursive: true })
    symlinkSync(trap, join(repository.root, '.git', 'hooks', hook))
  }
  for (const key of ['core.fsmonitor', 'filter.x.clean', 'gpg.program', 'core.editor', 'diff.external'])
    repository.git('config', key, trap)
  repository.put('b.txt', 'b\n')
  const { commits, root } = repository
  await commits.stage(root, ['a', 'b.txt'])
  await commits.commit(root, { message: 'x' })
  repository.put('a', '3\n')
  await commits.commit(root, { message: 'y', paths: ['a'] })
  expect(existsSync(repository.at('.git/sprung'))).toBe(false)
  expect(repository.committed('a')).toBe('3\n')
  chmodSync(trap, 0o644)
})

test('[O41] names with spaces, line ends, quotes and signs of git are committed; the log of the branch has the commit', async () => {
  const repository = await changed()
  const paths = ['a b', 'x\ny', 'q"uote', ':(top)odd', '-option', 'ünïcode', 'deep/*.txt', '#x']
  for (const path of paths) repository.put(path, `${path}\n`)
  const made = await repository.commits.commit(repository.root, { message: 'odd', paths })
  expect(made.paths.toSorted()).toEqual(paths.toSorted())
  for (const path of paths) expect(repository.committed(path)).toBe(`${path}\n`)
  expect(repository.status()).toEqual(['M a'])
  expect(repository.git('reflog', '-1', '--format=%gs')).toBe('commit: odd')
  expect(repository.git('log', '-1', '--format=%an %ae %cn')).toBe('Ann ann@example.org Ann')
})

test('[O41] line ends are converted as git does; modes, links and folders that become files are kept', async () => {
  const repository = await changed()
  repository.git('config', 'core.autocrlf', 'true')
  repository.put('crlf.txt', 'one\r\ntwo\r\n')
  repository.put('run.sh', 'x\n', 0o755)
  symlinkSync('a', repository.at('link'))
  repository.put('folder/inner', 'x\n')
  await repository.commit()
  await repository.remove('folder')
  repository.put('folder', 'a file now\n')
  repository.put('crlf.txt', 'one\r\nthree\r\n')
  const paths = ['crlf.txt', 'folder', 'folder/inner']
  await repository.commits.commit(repository.root, { message: 'x', paths })
  expect(repository.committed('crlf.txt')).toBe('one\nthree\n')
  expect(repository.status()).toEqual([])
  expect(repository.git('ls-tree', 'HEAD', 'run.sh', 'link').replaceAll(/ blob \S+\t/g, ' ')).toBe(
    '120000 link\n100755 run.sh',
  )
})

test('[O41] a file that was changed in the same moment as the index stays changed', async () => {
  const repository = await changed()
  repository.git('config', 'core.trustctime', 'false')
  const moment = 1_000_000_000
  const put = (text: string) => utimesSync(repository.put('b', text), moment, moment)
  put('x1')
  await repository.commit()
  // The file has the time and the size that the index knows. Only the time of the index tells git to look at the content.
  utimesSync(repository.at('.git/index'), moment, moment)
  put('x2')
  repository.put('a', '3\n')
  await repository.commits.stage(repository.root, ['a'])
  expect(repository.status()).toEqual(['M  a', ' M b'])
})

test('[O41] a folder in a repository commits its own files; what is staged elsewhere stays staged', async () => {
  const repository = await changed()
  repository.put('sub/one', '1\n')
  repository.git('add', 'a')
  const { commits, root } = repository
  const sub = join(root, 'sub')
  await commits.stage(sub, ['one'])
  expect(await commits.staged(sub)).toEqual(['one'])
  expect((await commits.commit(sub, { message: 'x' })).paths).toEqual(['one'])
  expect(repository.status()).toEqual(['M  a'])
  repository.put('.gitignore', 'ignored/\n')
  repository.put('ignored/x', '1')
  await expect(commits.stage(join(root, 'ignored'), ['x'])).rejects.toThrow('no repository')
})

test('[O41] a worktree commits on its own branch; the identity of a conditional include counts', async () => {
  const repository = await changed()
  const tree = join(newFolder(), 'linked')
  repository.git('worktree', 'add', '-q', '-b', 'topic', tree)
  writeFileSync(join(tree, 'a'), 'in the worktree\n')
  const { commits } = repository
  expect(await commits.commit(tree, { message: 'x', paths: ['a'] })).toMatchObject({ branch: 'topic' })
  expect(repository.git('show', 'topic:a')).toBe('in the worktree')
  expect(repository.git('log', '--format=%s', 'main')).toBe('x')
  const { user, root } = repository
  repository.git('config', '--unset', 'user.name')
  writeFileSync(join(user.home, 'work'), '[user]\nname = At Work\n')
  writeFileSync(
    join(user.home, '.gitconfig'),
    `[user]\nname = At Home\n[includeIf "gitdir:${root}/"]\npath = ${join(user.home, 'work')}\n`,
  )
  await commits.commit(root, { message: 'y', paths: ['a'] })
  expect(repository.git('log', '-1', '--format=%an')).toBe('At Work')
})

test('[O15] without git there is no repository', async () => {
  const { root, user, data } = await changed()
  const commits = gitCommits({ folder: data, user, path: newFolder() })
  expect(await commits.staged(root)).toEqual([])
  await expect(commits.stage(root, ['a'])).rejects.toThrow('no repository')
})

test('[O41] a file is committed as the attributes in .git/info say', async () => {
  const repository = await changed()
  const info = join(repository.root, '.git', 'info')
  mkdirSync(info, { recursive: true })
  writeFileSync(join(info, 'attributes'), '*.txt text eol=lf\n')
  repository.put('b.txt', 'one\r\n')
  await repository.commits.commit(repository.root, { message: 'x', paths: ['b.txt'] })
  expect(repository.committed('b.txt')).toBe('one\n')
})
