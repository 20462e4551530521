import { expect, test } from 'vitest'
import { capturedSession } from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { changeset, untilChangeset } from '../../../../test/captures/changeset-client.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { MemoryCommits } from '../../../../test/captures/memory-commits.ts'
import { session } from '../../../../test/held-flushes.ts'
import type { Client } from '../../../../test/test-host.ts'
import { accepted } from '../../../../test/two-client-session.ts'
import { commitMessage } from './commit-message.ts'

const channel = `${session}/changeset/uncommitted`
const at = (path: string) => ({ kind: 'resource', resource: `file:///a/${path}` }) as const

interface Committed extends CapturedSession {
  readonly commits: MemoryCommits
}

/** A session in a repository with one committed file, which is changed, and a new file. */
async function uncommitted(): Promise<Committed> {
  const captures = new MemoryCaptures()
  const commits = new MemoryCommits(captures)
  const all = await capturedSession({ machine: { commits } }, captures)
  all.write('a.txt', 'committed\n')
  captures.heads.set('/a', new Map(captures.folders.get('/a')))
  all.write('a.txt', 'changed\n')
  all.write('b.txt', 'new\n')
  await changeset(all.ann, channel)
  return { ...all, commits }
}

const invoke = (client: Client, operationId: string, target?: ReturnType<typeof at>) =>
  client.ask('invokeChangesetOperation', { channel, operationId, ...(target && { target }) })

const commit = (client: Client, params: object) =>
  client.peer.request('x-atrium/commit', { channel, ...params }) as Promise<{
    readonly message: string
    readonly commits: readonly {
      readonly id: string
      readonly branch: string
      readonly files: readonly string[]
    }[]
  }>

const head = ({ captures }: Committed) => [...(captures.heads.get('/a')?.keys() ?? [])]

test('[O41] the changeset of uncommitted files can be staged, unstaged and committed; all clients see it', async () => {
  const all = await uncommitted()
  const { operations } = await changeset(all.ben, channel)
  expect(operations?.map(({ id, scopes, status }) => [id, scopes.join(), status])).toEqual([
    ['discard', 'resource,range', 'idle'],
    ['stage', 'changeset,resource', 'idle'],
    ['unstage', 'changeset,resource', 'disabled'],
    ['commit', 'changeset', 'idle'],
  ])
  expect((await invoke(all.ann, 'stage', at('b.txt'))).message).toBe('1 file was staged.')
  const staged = await untilChangeset(all.ben, channel, ({ files }) => files[1]?._meta !== undefined)
  expect(staged.files.map(({ _meta }) => _meta)).toEqual([undefined, { 'x-atrium': { staged: true } }])
  expect(staged.operations?.at(-1)).toMatchObject({ label: 'Commit Staged Files', status: 'idle' })
  expect((await invoke(all.ann, 'unstage')).message).toBe('2 files were unstaged.')
  await untilChangeset(all.ben, channel, ({ files }) => files[1]?._meta === undefined)
  await expect(invoke(all.ann, 'unstage')).rejects.toThrow('There is no file that this can change now')
  expect((await invoke(all.ann, 'stage')).message).toBe('2 files were staged.')
})

test('[O44] clients that know only AHP commit with the title of the session and the files', async () => {
  const all = await uncommitted()
  await accepted(all.ann, session, { type: 'session/titleChanged', title: 'Fix the parser\nat last' })
  const { operations } = await changeset(all.ann, channel)
  await all.ben.ask('subscribe', { channel })
  expect(operations?.at(-1)?.confirmation).toContain('a.txt, b.txt')
  const { message } = await invoke(all.ann, 'commit')
  expect(message).toMatch(/^2 files were committed on main as c+1?\w*\.$/)
  expect(all.commits.messages).toEqual(['Fix the parser\n\n- a.txt\n- b.txt'])
  await untilChangeset(all.ann, channel, ({ files }) => files.length === 0)
})

test('[O44] the message of a commit is printable and not long', () => {
  expect(commitMessage('', ['a'])).toBe('Change a\n\n- a')
  expect(commitMessage(' ', ['a', 'b'])).toMatch(/^Change 2 files\n/)
  expect(commitMessage('x'.repeat(500), []).length).toBe(72)
  expect(commitMessage('a\u0007b', ['x\ny'])).toBe('a\ufffdb\n\n- x\ufffdy')
  const many = Array.from({ length: 60 }, (_, n) => `f${n}`)
  expect(commitMessage('t', many).split('\n').at(-1)).toBe('- and 10 more')
})

test('[O42] without files, what is staged is committed, and the rest stays; with nothing staged, all files are', async () => {
  const all = await uncommitted()
  await invoke(all.ann, 'stage', at('b.txt'))
  all.write('b.txt', 'later\n')
  const made = await commit(all.ann, { message: 'Only b' })
  expect(made.commits).toMatchObject([{ branch: 'main', files: ['file:///a/b.txt'] }])
  expect(made.message).toContain('1 file was committed on main')
  const rest = await untilChangeset(all.ann, channel, ({ files }) => files[1]?.edit.before !== undefined)
  expect(rest.files.map(({ id }) => id)).toEqual(['file:///a/a.txt', 'file:///a/b.txt'])
  const all2 = await commit(all.ann, { message: 'The rest' })
  expect(all2.commits[0]?.files).toEqual(['file:///a/a.txt', 'file:///a/b.txt'])
})

test('[O42] with files, these are committed as they are, and what is staged beside them stays staged', async () => {
  const all = await uncommitted()
  await invoke(all.ann, 'stage', at('b.txt'))
  await commit(all.ann, { message: 'Only a', files: ['file:///a/a.txt'] })
  expect(head(all)).toEqual(['a.txt'])
  expect(await all.commits.staged('/a')).toEqual(['b.txt'])
})

test('[O43] what cannot be committed is said in a sentence, and changes nothing', async () => {
  const all = await uncommitted()
  all.commits.failing = 'The repository is in the middle of a merge.'
  await expect(commit(all.ann, { message: 'x' })).rejects.toMatchObject({
    code: -32011,
    message: 'The repository is in the middle of a merge.',
  })
  await expect(invoke(all.ann, 'stage')).rejects.toThrow('middle of a merge')
  all.commits.failing = undefined
  await expect(commit(all.ann, { message: '' })).rejects.toThrow('needs a message')
  expect(head(all)).toEqual(['a.txt'])
})

test('[O43.2] if a folder is refused, the commit that was made in another one stays, and the refusal names it', async () => {
  const all = await uncommitted()
  all.captures.folders.set('/b', new Map(all.captures.folders.get('/a')))
  all.captures.heads.set('/b', new Map())
  const workingDirectories = ['file:///a', 'file:///b']
  await all.ann.ask('createSession', { channel: 's:/2', workingDirectories })
  const both = 's:/2/changeset/uncommitted'
  await changeset(all.ann, both)
  const { commit: commitIn } = all.commits
  all.commits.commit = (directory, request) => {
    if (directory === '/b') all.commits.failing = 'The index cannot be read.'
    return commitIn.call(all.commits, directory, request)
  }
  await expect(commit(all.ann, { channel: both, message: 'Both' })).rejects.toThrow(
    /^2 files were committed on \w+ as [\da-f]{10}\. The index cannot be read\.$/,
  )
  expect(head(all)).toEqual(['a.txt', 'b.txt'])
  expect(all.captures.heads.get('/b')?.size).toBe(0)
})

test('[O44] a file that the changeset does not show, no files, and another changeset are errors', async () => {
  const all = await uncommitted()
  const files = ['file:///a/other.txt']
  await expect(commit(all.ann, { message: 'x', files })).rejects.toMatchObject({ code: -32602 })
  await expect(commit(all.ann, { message: 'x', files: [] })).rejects.toMatchObject({ code: -32602 })
  const other = { channel: `${session}/changeset/session`, message: 'x' }
  await expect(commit(all.ann, other)).rejects.toMatchObject({ code: -32602 })
  await expect(commit(all.ann, { channel: session, message: 'x' })).rejects.toMatchObject({ code: -32008 })
  expect(all.commits.messages).toEqual([])
})

test('[S-57 commitLength] at 65,536 characters of a message the commit is made', async () => {
  const all = await uncommitted()
  await commit(all.ann, { message: 'x'.repeat(65_536) })
  expect(all.commits.messages).toHaveLength(1)
})

test('[S-57 commitLength] past 65,536 characters of a message the commit is refused', async () => {
  const all = await uncommitted()
  await expect(commit(all.ann, { message: 'x'.repeat(65_537) })).rejects.toMatchObject({ code: -32602 })
  expect(all.commits.messages).toEqual([])
})
