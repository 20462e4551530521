import { changesOf } from '../../../host/src/catalog/change-tracking.ts'
import { pathToFileURL } from 'node:url'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { changeset, stateOf } from '../../../host/test/captures/changeset-client.ts'
import { ScriptedAgent, until } from '../../../host/test/scripted-agent.ts'
import type { Run } from '../../../host/test/scripted-agent.ts'
import { testHost } from '../../../host/test/test-host.ts'
import { result, running, toolCallStarted } from '../../../host/test/tool-call-actions.ts'
import { DiskFolder, DiskRepository } from '../../test/captures/folder.ts'
import { needsGit } from '../../test/repository.ts'
import { nodeFiles } from '../files/files.ts'
import { gitCommits } from '../git/commit/commits.ts'
import { gitVcs } from '../git/git.ts'

needsGit()

const session = 's:/1'
const chat = defaultChatUri(session)
const turnUri = `${chat}/changeset/turn/t1`

/**
 * A host with real files, git and captures, and a session in a repository with three committed files, or in a worktree of such
 * a repository.
 */
async function inRepository(inWorktree = false) {
  const main = new DiskRepository()
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await main.write(name, `${name}\n`)
  await main.commit()
  const root = `${main.directory}-worktree`
  if (inWorktree) main.repository.git('worktree', 'add', '-q', '-b', 'side', root)
  const disk = inWorktree ? new DiskFolder(root) : main
  const agent = new ScriptedAgent()
  const user = disk.user
  const commits = gitCommits({ folder: `${disk.data}-commits`, user: main.repository.user })
  const machine = { captures: disk.captures, commits, files: nodeFiles(), vcs: gitVcs({ user }) }
  // The clock of the test runs faster than git.
  const all = await testHost({ agents: [agent], machine, limits: { turnCaptureMs: 1e12 } })
  const ann = await all.join('ann')
  const uri = pathToFileURL(disk.directory).href
  await ann.ask('createSession', { channel: session, workingDirectories: [uri] })
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
  const at = (path: string) => ({ kind: 'resource', resource: `${uri}/${path}` }) as const
  const git = (...args: readonly string[]) => main.repository.git('-C', disk.directory, ...args)
  return { ...all, disk, agent, ann, at, git, commit: main.commit }
}

type InRepository = Awaited<ReturnType<typeof inRepository>>

/** A turn that changes a.txt and b.txt by a call, while a person changes b.txt afterwards. */
async function turn({ ann, agent, core, disk }: InRepository): Promise<void> {
  const message = { text: 'go', origin: { kind: 'user' } }
  ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', startedAt: '2026-01-01T00:00:00Z', message })
  const run: Run = await agent.given(0)
  run.say(toolCallStarted(), running)
  await until(() => run.waits)
  await changesOf(core())?.ready(chat)
  await disk.write('a.txt', 'a.txt\nby the call\n')
  await disk.write('b.txt', 'by the call\n')
  await disk.write('made by a shell.txt', 'new\n')
  await run.chat.files.writesOnly('c1', ['a.txt', 'b.txt', 'made by a shell.txt'])
  run.say({ type: 'chat/toolCallComplete', toolCallId: 'c1', ...result(true) } as never)
  await until(() => run.waits)
  await disk.write('b.txt', 'by the call\nby a person\n')
  run.end()
  await ann.until(() => ann.state(chat)['activeTurn'] === undefined)
  await changesOf(core())?.settled()
}

const names = ({ files }: { files: readonly { readonly id: string }[] }) =>
  files.map(({ id }) => decodeURIComponent(id.slice(id.lastIndexOf('/') + 1)))

test('[O37] with git captures a turn is shown and undone on the disk; what a person wrote stays', async () => {
  const all = await inRepository()
  const { ann, disk } = all
  await turn(all)
  const state = await changeset(ann, turnUri)
  expect(names(state)).toEqual(['a.txt', 'b.txt', 'made by a shell.txt'])
  const before = state.files[1]?.edit.before?.content.uri ?? ''
  expect((await ann.ask('resourceRead', { uri: before })).data).toBe('b.txt\n')
  const { message } = await ann.ask('invokeChangesetOperation', { channel: turnUri, operationId: 'undo' })
  expect(message).toContain('2 files were set back')
  expect(await disk.text('a.txt')).toBe('a.txt\n')
  expect(await disk.text('made by a shell.txt')).toBeUndefined()
  expect(await disk.text('b.txt')).toBe('by the call\nby a person\n')
  await ann.ask('invokeChangesetOperation', { channel: turnUri, operationId: 'redo' })
  expect(await disk.text('a.txt')).toBe('a.txt\nby the call\n')
})

test('[O26] a file that git keeps in another form is not discarded into that form', async () => {
  const all = await inRepository()
  const { ann, disk } = all
  all.git('config', 'filter.lfs.clean', 'tr -d a-y')
  await disk.write('.gitattributes', '*.bin filter=lfs\n')
  await disk.write('big.bin', 'the real content\n')
  await all.commit()
  all.git('config', '--unset', 'filter.lfs.clean')
  await disk.write('big.bin', 'the new content\n')
  const channel = `${session}/changeset/uncommitted`
  const state = await changeset(ann, channel)
  expect(state.files).toMatchObject([
    {
      _meta: { 'x-atrium': { omitted: expect.stringMatching(/^The repository stores it in another form/) } },
    },
  ])
  expect(names(state)).toEqual(['big.bin'])
  const discarded = ann.ask('invokeChangesetOperation', {
    channel,
    operationId: 'discard',
    target: all.at('big.bin'),
  })
  await expect(discarded).rejects.toThrow(/left as it is.+ another form/)
  expect(await disk.text('big.bin')).toBe('the new content\n')
})

test('[O35] with git captures uncommitted files are followed live, and discarded', async () => {
  const all = await inRepository()
  const { ann, disk, world } = all
  const channel = `${session}/changeset/uncommitted`
  expect((await changeset(ann, channel)).files).toEqual([])
  await until(() => JSON.stringify(ann.state(session)['changesets'] ?? '').includes('uncommitted'))
  await disk.write('c.txt', 'changed\n')
  await until(() => {
    world.advance(200)
    return names(stateOf(ann, channel)).join() === 'c.txt'
  })
  await ann.ask('invokeChangesetOperation', { channel, operationId: 'discard', target: all.at('c.txt') })
  expect(await disk.text('c.txt')).toBe('c.txt\n')
})

test('[O40] with git captures a hunk of an uncommitted file is discarded, and the others stay', async () => {
  const all = await inRepository()
  const { ann, disk } = all
  await disk.write('a.txt', 'a.txt\n2\n3\n4\n')
  await all.commit()
  await disk.write('a.txt', 'changed\n2\n3\n4\nadded\n')
  const channel = `${session}/changeset/uncommitted`
  await changeset(ann, channel)
  const range = { start: { line: 4, character: 0 }, end: { line: 5, character: 0 } }
  const target = { ...all.at('a.txt'), kind: 'range', range } as const
  await ann.ask('invokeChangesetOperation', { channel, operationId: 'discard', target })
  expect(await disk.text('a.txt')).toBe('changed\n2\n3\n4\n')
})

test('[O41] with git, uncommitted files are staged and committed from a client; the status of the session follows', async () => {
  const all = await inRepository()
  const { ann, disk } = all
  await disk.write('a.txt', 'changed\n')
  await disk.write('new.txt', 'new\n')
  const channel = `${session}/changeset/uncommitted`
  await changeset(ann, channel)
  await ann.ask('invokeChangesetOperation', { channel, operationId: 'stage', target: all.at('new.txt') })
  const { git } = all
  expect(git('diff', '--cached', '--name-only')).toBe('new.txt')
  await ann.ask('invokeChangesetOperation', { channel, operationId: 'commit' })
  expect(git('log', '-1', '--format=%B')).toContain('- new.txt')
  const params = { channel, message: 'Change a', files: [all.at('a.txt').resource] }
  const made = (await ann.peer.request('x-atrium/commit', params)) as { readonly message: string }
  expect(made.message).toMatch(/^1 file was committed on main as [\da-f]{10}\.$/)
  expect(git('status', '--porcelain')).toBe('')
  await ann.until(() => stateOf(ann, channel).files.length === 0)
})

test.each(['in a repository', 'in a worktree'])(
  '[O35.7] [O35] %s, a commit that somebody makes outside the host is followed',
  async (where) => {
    const all = await inRepository(where === 'in a worktree')
    const { ann, disk, world, git } = all
    const channel = `${session}/changeset/uncommitted`
    await disk.write('c.txt', 'changed\n')
    expect(names(await changeset(ann, channel))).toEqual(['c.txt'])
    // The watches have begun when a change of a file is seen.
    await disk.write('d.txt', 'new\n')
    await until(() => {
      world.advance(200)
      return names(stateOf(ann, channel)).join() === 'c.txt,d.txt'
    })
    git('add', '.')
    git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'by a person')
    await until(() => {
      world.advance(200)
      return stateOf(ann, channel).files.length === 0
    })
    expect(stateOf(ann, channel)).toMatchObject({ status: 'ready', files: [] })
  },
)
