import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileUri } from '@atrium/protocol/file-uri'
import { onTestFinished, expect, test } from 'vitest'
import { clientOf, sessionOf, setTitle } from '../../../test/client.ts'
import { atrium, documents } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'

const hasGit = !spawnSync('git', ['--version']).error

test('[Z38] [Z38.1] apply brings the changes of a worktree into the main checkout, and refuses with a sentence', async ({
  skip,
}) => {
  skip(!hasGit, 'no git')
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-apply-')))
  const main = join(home, 'main')
  mkdirSync(main)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@x', ...args], {
      cwd: main,
      stdio: 'pipe',
    }).toString()
  git('init', '-q', '-b', 'main')
  writeFileSync(join(main, 'a'), '1\n')
  git('add', '-A')
  git('commit', '-qm', 'x')
  const host = await HostProcess.start(home)
  const client = clientOf(host)
  onTestFinished(async () => {
    client.close()
    await host.kill()
  })
  await sessionOf(client, 'plain', main)
  expect(await atrium(home, ['apply', 'plain'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('This session has no worktree'),
  })
  const channel = 'ahp-session:/tree'
  const config = { isolation: 'worktree' }
  const workingDirectories = [fileUri(main)]
  await client.ask('createSession', { channel, provider: 'guide', workingDirectories, config })
  await setTitle(client, channel, 'about tree')
  const session = client.subscribe('session', channel)
  await session.until(({ lifecycle }) => lifecycle === 'ready')
  const [directory = ''] = (await session.ready()).workingDirectories ?? []
  const tree = directory.slice('file://'.length)
  expect(tree.startsWith(join(home, 'data', 'worktrees', 'trees'))).toBe(true)
  writeFileSync(join(tree, 'a'), '2\n')
  writeFileSync(join(main, 'mine'), 'x')
  const refused = await atrium(home, ['apply', 'tree'])
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('has 1 uncommitted changes')])
  expect(readFileSync(join(main, 'a'), 'utf8')).toBe('1\n')
  git('stash', '-qu')
  const page = (await atrium(home, ['export', 'tree'])).stdout
  const branch = git('branch', '--list', 'atrium/*', '--format=%(refname:short)').trim()
  expect(page).toContain(`- worktree: branch ${branch} of ${main}\n`)
  // A host elsewhere applies on its own machine.
  const there = ['--host', host.url, '--token-file', join(home, 'data', 'token')]
  const { status, stdout } = await atrium(mkdtempSync(join(home, 'other-')), [
    'apply',
    'tree',
    '--json',
    ...there,
  ])
  expect(status).toBe(0)
  expect(documents(stdout)).toEqual([
    {
      operation: 'apply',
      session: channel,
      changeset: `${channel}/changeset/session`,
      message: `Changed in ${main}: a. Not committed there: a.`,
    },
  ])
  expect(readFileSync(join(main, 'a'), 'utf8')).toBe('2\n')
  expect(git('status', '--porcelain')).toBe(' M a\n')
  expect(await atrium(home, ['apply', 'tree'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`There is nothing to apply: ${main} has all changes.`),
  })
  await client.ask('disposeSession', { channel })
  await expect.poll(() => existsSync(tree), { timeout: 200_000 }).toBe(false)
  await expect.poll(() => git('branch', '--list', 'atrium/*'), { timeout: 200_000 }).toBe('')
})
