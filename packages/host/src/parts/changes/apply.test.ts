import { worktreeIdsOf } from '../../catalog/machine.ts'
import { changesOf } from '../../catalog/change-tracking.ts'
import { expect, test } from 'vitest'
import { changeset, untilChangeset } from '../../../test/captures/changeset-client.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { recordOf } from '../../../test/captures/captured-session.ts'
import { FakeWorktrees } from '../../../test/fakes/fake-worktrees.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { move } from '../../../test/moves.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { accepted, chat, sessionOf, started } from '../../../test/two-client-session.ts'
import { WorktreeRefused } from '../../ports/worktrees.ts'

const uri = `${session}/changeset/session`

/** A session in a worktree of `/main`, and a second client. */
async function inWorktree() {
  const worktrees = new FakeWorktrees()
  worktrees.checkout('/main').files.set('a', '1')
  worktrees.commit('/main')
  const captures = new MemoryCaptures()
  captures.folders.set('/main', new Map())
  const agent = new ScriptedAgent({ capabilities: { multipleChats: {} } })
  const all = await testHost({ agents: [agent], machine: { worktrees, captures } })
  const ann = await all.join('ann')
  await ann.ask('createSession', {
    channel: session,
    workingDirectories: ['file:///main'],
    config: { isolation: 'worktree' },
  })
  await ann.ask('subscribe', { channel: session })
  await until(() => sessionOf(all).lifecycle === 'ready')
  const root = `/trees/${worktrees.created[0]}`
  captures.folders.set(root, new Map())
  const tree = worktrees.trees.get(root)
  if (!tree) throw new Error('no worktree')
  const main = () => Object.fromEntries(worktrees.trees.get('/main')?.files ?? [])
  return { ...all, worktrees, captures, agent, ann, ben: await all.join('ben'), root, tree, main }
}

const apply = (client: Client, channel = uri) =>
  client.ask('invokeChangesetOperation', { channel, operationId: 'apply' })

const operationIn = ({ operations = [] }: Awaited<ReturnType<typeof changeset>>) =>
  operations.find(({ id }) => id === 'apply')

test.each(['session', 'branch'])(
  '[O59] the changeset %s of a worktree is applied by the host',
  async (kind) => {
    const { ann, ben, tree, main } = await inWorktree()
    const channel = `${session}/changeset/${kind}`
    expect(operationIn(await changeset(ben, channel))).toMatchObject({
      status: 'disabled',
      description: 'There is nothing to apply: /main has all changes.',
    })
    await expect(apply(ann, channel)).rejects.toThrow('There is nothing to apply')
    tree.files.set('a', '2').set('b', '1')
    expect(operationIn(await changeset(ann, channel))).toMatchObject({
      label: 'Apply to Main Checkout',
      scopes: ['changeset'],
    })
    const { message } = await apply(ann, channel)
    expect(message).toBe('Changed in /main: a, b. Not committed there: a, b.')
    expect(main()).toEqual({ a: '2', b: '1' })
    const after = await untilChangeset(ben, channel, (state) => operationIn(state)?.status === 'disabled')
    expect(after.status).toBe('ready')
  },
)

test('[O59] the confirmation names the main checkout, both branches, and what is not committed', async () => {
  const { ann, tree, worktrees } = await inWorktree()
  tree.files.set('b', '1')
  const { confirmation, status } = operationIn(await changeset(ann, uri)) ?? {}
  expect(status).toBe('idle')
  expect(confirmation).toBe(
    `The changes of the branch atrium/${worktrees.created[0]} will be applied to the branch main in /main. ` +
      'These are not committed, and will not be committed there: b.',
  )
})

test('[O59] [O59.2] what O53 refuses is a conflict with its sentence, and changes nothing', async () => {
  const { ann, tree, main, worktrees } = await inWorktree()
  tree.files.set('a', '2')
  worktrees.trees.get('/main')?.files.set('mine', 'x')
  await expect(apply(ann)).rejects.toMatchObject({
    code: -32011,
    message: '/main has 1 uncommitted changes. Commit or stash them first.',
  })
  expect(main()).toEqual({ a: '1', mine: 'x' })
  worktrees.trees.get('/main')?.files.delete('mine')
  await apply(ann)
  expect(main()).toEqual({ a: '2' })
})

test('[O59] [O59.1] a worktree that is gone says so, and a session in its folder has no such operation', async () => {
  const { ann, worktrees } = await inWorktree()
  worktrees.state = () => Promise.reject(new WorktreeRefused('The folder /main is not there any more.'))
  expect(operationIn(await changeset(ann, uri))).toMatchObject({
    status: 'disabled',
    description: 'The folder /main is not there any more.',
  })
  await expect(apply(ann)).rejects.toThrow('The folder /main is not there any more.')
  const channel = 'ahp-session:/two'
  await ann.ask('createSession', { channel, workingDirectories: ['file:///main'] })
  await expect(apply(ann, `${channel}/changeset/session`)).rejects.toMatchObject({ code: -32602 })
})

test('[O59] [O59.1] files that cannot be captured do not keep a worktree from being applied', async () => {
  const { ann, tree, main, captures } = await inWorktree()
  tree.files.set('a', '2')
  captures.failing = 'No room.'
  expect(await changeset(ann, `${session}/changeset/branch`)).toMatchObject({
    status: 'error',
    operations: [{ id: 'apply', status: 'idle' }],
  })
  await apply(ann, `${session}/changeset/branch`)
  expect(main()).toEqual({ a: '2' })
})

test('[O59] [O59.1] while a turn is active in the session nothing is applied, and clients see it', async () => {
  const all = await inWorktree()
  const { ann, ben, tree, main, agent } = all
  tree.files.set('a', '2')
  expect(operationIn(await changeset(ben, uri))?.status).toBe('idle')
  await ann.ask('subscribe', { channel: chat })
  await accepted(ann, chat, started('t1'))
  const run = await agent.given(0)
  const busy = await untilChangeset(ben, uri, (state) => operationIn(state)?.status === 'disabled')
  expect(operationIn(busy)?.description).toContain('A turn is active')
  await expect(apply(ann)).rejects.toThrow('A turn is active in this session.')
  expect(main()).toEqual({ a: '1' })
  run.end()
  await untilChangeset(ben, uri, (state) => operationIn(state)?.status === 'idle')
  await apply(ann)
  expect(main()).toEqual({ a: '2' })
})

test('[O59] [O59.2] for a turn that runs in the main checkout, what is applied is shared', async () => {
  const all = await inWorktree()
  const { ann, tree, captures, worktrees, agent } = all
  const channel = 'ahp-session:/two'
  await ann.ask('createSession', { channel, workingDirectories: ['file:///main'] })
  await ann.ask('subscribe', { channel })
  const { defaultChat = '' } = sessionOf(all, channel)
  await ann.ask('subscribe', { channel: defaultChat })
  await accepted(ann, defaultChat, started('t1'))
  const run = await agent.given(0)
  tree.files.set('b', '1')
  const real = worktrees.apply.bind(worktrees)
  worktrees.apply = async (id) => {
    captures.folders.get('/main')?.set('b', { bytes: new Uint8Array(1), mode: '100644' })
    return real(id)
  }
  await apply(ann)
  run.end()
  await until(() => all.core().log.channel(defaultChat, 'chat')?.committed?.activeTurn === undefined)
  await changesOf(all.core())?.settled()
  expect((await recordOf(all, 't1', defaultChat))?.folders[0]?.shared).toEqual(['b'])
})

test('[O38.1] [O59] [O59.3] operations never run at the same time, and a host that ends waits for it', async () => {
  const { ann, tree, worktrees, host, main } = await inWorktree()
  tree.files.set('a', '2')
  const real = worktrees.apply.bind(worktrees)
  let release = () => {}
  let running = 0
  let most = 0
  worktrees.apply = async (id) => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => (release = resolve))
    running--
    return real(id)
  }
  const both = Promise.allSettled([apply(ann), apply(ann, `${session}/changeset/branch`)])
  await until(() => running === 1)
  await untilIdle()
  let closed = false
  const closing = host()
    .close()
    .then(() => (closed = true))
  await untilIdle()
  expect([most, closed]).toEqual([1, false])
  release()
  await closing
  await both
  expect([main(), most]).toEqual([{ a: '2' }, 1])
})

test('[O56] [O59] [O56.3] the session of a moved chat shows the worktree, and applies it when no turn is active in it', async () => {
  const all = await inWorktree()
  const { ann, tree, main, agent } = all
  await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/b' })
  const { session: moved } = await move(ann, 'ahp-chat:/b', { kind: 'newSession' })
  await ann.ask('subscribe', { channel: moved })
  expect(ann.state(moved)['_meta']).toEqual(ann.state(session)['_meta'])
  expect(all.worktrees.created).toHaveLength(1)
  tree.files.set('a', '2')
  const channel = `${moved}/changeset/session`
  expect(operationIn(await changeset(ann, channel))).toMatchObject({ status: 'idle' })
  await ann.ask('subscribe', { channel: chat })
  await accepted(ann, chat, started('t1'))
  const run = await agent.given(0)
  const isBusy = untilChangeset(ann, channel, (state) => operationIn(state)?.status === 'disabled')
  expect(operationIn(await isBusy)?.description).toContain('A turn is active in another session')
  await expect(apply(ann, channel)).rejects.toThrow('A turn is active in another session')
  run.end()
  await untilChangeset(ann, channel, (state) => operationIn(state)?.status === 'idle')
  await apply(ann, channel)
  expect(main()).toEqual({ a: '2' })
})

test('[O58] the worktree of a moved chat stays until both sessions are disposed of', async () => {
  const { ann, worktrees, root, core } = await inWorktree()
  await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/b' })
  const { session: moved } = await move(ann, 'ahp-chat:/b', { kind: 'newSession' })
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  expect(worktrees.trees.has(root)).toBe(true)
  await ann.ask('disposeSession', { channel: moved })
  await until(() => !worktrees.trees.has(root))
  await until(() => worktreeIdsOf(core()).size === 0)
  expect(worktreeIdsOf(core()).size).toBe(0)
})
