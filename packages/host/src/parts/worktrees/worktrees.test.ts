import { expect, test } from 'vitest'
import type { SessionState } from '@atrium/protocol/session/state'
import { FakeFiles } from '../../../test/fake-files.ts'
import { FakeWorktrees } from '../../../test/fakes/fake-worktrees.ts'
import { silentAgent, testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import type { Agent } from '../../ports/agent.ts'
import type { HookRun, HookRunner } from '../../ports/hooks.ts'
import type { Vcs } from '../../ports/vcs.ts'

const uri = 's:/1'
const inWorktree = { isolation: 'worktree' }

/** A host with a repository at `/main` that has one commit, and an agent that records where its sessions begin. */
async function repositoryHost({ setup }: { setup?: string } = {}) {
  const worktrees = new FakeWorktrees()
  worktrees.checkout('/main').files.set('a', '1')
  const { id: base } = worktrees.commit('/main')
  const files = new FakeFiles()
  const ran: HookRun[] = []
  const hooks: HookRunner = {
    system: 'linux',
    run: async (run) => {
      ran.push(run)
      return run.line === 'false'
        ? { exitCode: 1, stdout: '', stderr: 'it broke\n' }
        : { exitCode: 0, stdout: '', stderr: '' }
    },
  }
  if (setup !== undefined)
    for (const root of ['/main', '/trees/id-1', '/trees/id-2', '/trees/id-3', '/trees/id-4'])
      files.put(`${root}/.agents/atrium.json`, JSON.stringify({ worktree: { setup } }))
  const began: (readonly string[] | undefined)[] = []
  const agent: Agent = {
    ...silentAgent,
    create: async ({ state }) => void began.push(state.workingDirectories),
  }
  const vcs: Vcs = {
    root: async (path) => (path.startsWith('/main') ? '/main' : undefined),
    status: async () => ({ remotes: [], changes: [] }),
    gitDirectories: async () => [],
    ignored: async () => new Set(),
    files: async () => [],
  }
  const all = await testHost({ agents: [agent], machine: { worktrees, files, hooks, vcs } })
  const ann = await all.join('ann')
  return { all, ann, worktrees, base, ran, began }
}

const create = async (client: Client, config: Record<string, string>, more: object = {}) => {
  await client.ask('createSession', { channel: uri, workingDirectories: ['file:///main'], config, ...more })
  await client.ask('subscribe', { channel: uri })
  await client.until(() => stateOf(client).lifecycle !== 'creating')
  return stateOf(client)
}

const stateOf = (client: Client) => client.state(uri) as unknown as SessionState
const shown = ({ _meta }: SessionState) =>
  (_meta?.['x-atrium'] as { worktree?: Record<string, unknown> })?.worktree

test('[O56] [O56.1] a session in a worktree works there, and shows it', async () => {
  const { ann, worktrees, base, began } = await repositoryHost()
  const state = await create(ann, { ...inWorktree, 'atrium.worktreeBranch': 'topic' }, { progressToken: 'p' })
  const [id = ''] = worktrees.created
  const root = `file:///trees/${id}`
  expect(state).toMatchObject({ lifecycle: 'ready', workingDirectories: [root] })
  expect(shown(state)).toEqual({ id, main: 'file:///main', root, branch: 'topic', base })
  expect(began).toEqual([[root]])
  const messages = ann.notes.flatMap(({ method, params }) =>
    method === 'root/progress' ? [params['message']] : [],
  )
  expect(messages).toEqual([
    'Creating the worktree',
    'Setting up the worktree',
    'Starting the agent',
    undefined,
  ])
})

test('[O56] the place of a worktree can be chosen, and a session in a folder has none', async () => {
  const { ann, worktrees } = await repositoryHost()
  const state = await create(ann, { ...inWorktree, 'atrium.worktreeFolder': '/chosen' })
  expect(state.workingDirectories).toEqual(['file:///chosen'])
  const channel = 's:/2'
  await ann.ask('createSession', {
    channel,
    workingDirectories: ['file:///main'],
    config: { isolation: 'folder' },
  })
  expect(worktrees.created.length).toBe(1)
})

test.each([
  [{ isolation: 'other' }, 'isolation must be one of "folder", "worktree"'],
  [{ ...inWorktree, 'atrium.worktreeFolder': 'x' }, 'atrium.worktreeFolder must be an absolute path'],
])('[O56] the config %j is refused', async (config, problem) => {
  const { ann, worktrees } = await repositoryHost()
  const asked = ann.ask('createSession', { channel: uri, workingDirectories: ['file:///main'], config })
  await expect(asked).rejects.toMatchObject({ message: `createSession: ${problem}` })
  const nowhere = ann.ask('createSession', { channel: uri, config: inWorktree })
  await expect(nowhere).rejects.toMatchObject({ message: expect.stringMatching(/has one working directory/) })
  expect(worktrees.created).toEqual([])
})

test('[O56] [O56.1] a worktree that is refused fails the session with the reason', async () => {
  const { ann, began } = await repositoryHost()
  const state = await create(ann, inWorktree, { workingDirectories: ['file:///elsewhere'] })
  expect(state).toMatchObject({
    lifecycle: 'failed',
    creationError: { message: '/elsewhere is in no git repository.' },
    workingDirectories: ['file:///elsewhere'],
  })
  expect(began).toEqual([])
})

test('[O56] [O56.1] a creation that a crash has interrupted goes on with the same worktree', async () => {
  const { all, ann, worktrees } = await repositoryHost()
  worktrees.gate = new Promise(() => {})
  await ann.ask('createSession', { channel: uri, workingDirectories: ['file:///main'], config: inWorktree })
  worktrees.gate = Promise.resolve()
  await all.restart('crash')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: uri })
  await ben.until(() => stateOf(ben).lifecycle === 'ready')
  const [first = '', second] = worktrees.created
  expect(second).toBe(first)
  expect(stateOf(ben).workingDirectories).toEqual([`file:///trees/${first}`])
})

test('[O57] the setup command runs only if a user has allowed exactly this command', async () => {
  for (const [allowed, note] of [
    ['npm ci', undefined],
    ['', /"npm ci" did not run: nobody has allowed it/],
    ['npm install', /"npm ci" did not run: another one was allowed/],
  ] as const) {
    const { ann, ran } = await repositoryHost({ setup: 'npm ci' })
    const { schema } = await ann.ask('resolveSessionConfig', { workingDirectory: 'file:///main' })
    expect(schema.properties['atrium.worktreeSetup']).toMatchObject({ enum: ['', 'npm ci'] })
    const state = await create(ann, { ...inWorktree, 'atrium.worktreeSetup': allowed })
    const [root = ''] = state.workingDirectories ?? []
    expect(ran).toMatchObject(note ? [] : [{ line: 'npm ci', cwd: root.slice('file://'.length) }])
    expect(ran.length).toBe(note ? 0 : 1)
    if (note) expect(shown(state)?.['notes']).toEqual([expect.stringMatching(note)])
    else expect(shown(state)).not.toHaveProperty('notes')
  }
})

test('[O57] a setup command that fails is shown, and the session is ready', async () => {
  const { ann } = await repositoryHost({ setup: 'false' })
  const state = await create(ann, { ...inWorktree, 'atrium.worktreeSetup': 'false' })
  expect(state.lifecycle).toBe('ready')
  expect(shown(state)?.['notes']).toEqual([
    'The setup command "false" failed. It ended with the exit code 1.\nit broke',
  ])
})

test('[O58] the end of a session removes its worktree if nothing would be lost', async () => {
  const { all, ann, worktrees } = await repositoryHost()
  await create(ann, inWorktree)
  const [id = ''] = worktrees.created
  await ann.ask('disposeSession', { channel: uri })
  await expect.poll(() => [...worktrees.trees.keys()]).toEqual(['/main'])
  await expect(worktrees.state(id)).rejects.toThrow('This session has no worktree.')
  expect(all.world.reports).toEqual([])
})

test('[O58] the end of a session keeps a worktree with work in it, and says so', async () => {
  const { all, ann, worktrees } = await repositoryHost()
  await create(ann, inWorktree)
  const [id = ''] = worktrees.created
  worktrees.trees.get(`/trees/${id}`)?.files.set('new', '1')
  await ann.ask('disposeSession', { channel: uri })
  await expect.poll(() => all.world.reports).toMatchObject([{ event: 'worktree kept' }])
  expect(worktrees.trees.get(`/trees/${id}`)?.files.get('new')).toBe('1')
  await all.restart('crash')
  expect(all.world.reports.length).toBe(1)
})

test('[O56] a host without worktrees knows no isolation', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  expect(await ann.ask('resolveSessionConfig', {})).toEqual({
    schema: { type: 'object', properties: {} },
    values: {},
  })
  const state = await create(ann, inWorktree)
  expect(state).toMatchObject({ lifecycle: 'ready', workingDirectories: ['file:///main'] })
})

test('[O58] a worktree in which another session works stays until that session has ended, too', async () => {
  const { ann, worktrees } = await repositoryHost()
  await create(ann, inWorktree)
  const [id = ''] = worktrees.created
  const other = { channel: 's:/2', workingDirectories: [`file:///trees/${id}`] }
  await ann.ask('createSession', other)
  await ann.ask('disposeSession', { channel: uri })
  await ann.ask('createSession', { channel: 's:/3' })
  expect([...worktrees.trees.keys()]).toEqual(['/main', `/trees/${id}`])
  await ann.ask('disposeSession', { channel: 's:/2' })
  await expect.poll(() => [...worktrees.trees.keys()]).toEqual(['/main'])
})

test('[O55] an application that was interrupted is shown in the session, with what was left', async () => {
  const { all, ann, worktrees } = await repositoryHost()
  await create(ann, inWorktree)
  const [id = ''] = worktrees.created
  const applied = { id, main: '/main', commit: 'x', files: ['a'], uncommitted: [], left: ['b'] }
  worktrees.interrupted = [
    applied,
    { id: 'other', main: '/gone', problem: 'The folder /gone is not there any more.' },
  ]
  await all.restart('crash')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: uri })
  expect(shown(stateOf(ben))?.['notes']).toEqual([
    'Applying the changes to /main was interrupted, and has been finished. Left as they are, because somebody changed them meanwhile: b.',
  ])
  expect(all.world.reports.map(({ event }) => event)).toEqual([
    'worktree applied after a restart',
    'worktree not applied after a restart',
  ])
})
