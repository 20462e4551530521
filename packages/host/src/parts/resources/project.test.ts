import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { noVcs } from '../../../test/completing.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { started } from '../../../test/one-client-session.ts'
import { testHost } from '../../../test/test-host.ts'
import type { Vcs, VcsStatus } from '../../ports/vcs.ts'

const session = 'mock:/one'
const clean: VcsStatus = { branch: 'main', upstream: 'origin/main', ahead: 1, remotes: [], changes: [] }

/** A session in a directory of the working tree `/w`, and the means to run turns in it. */
async function inDirectory(directory: string, status: Vcs['status']) {
  const root = async (path: string) => (path.startsWith('/w') ? '/w' : undefined)
  const all = await testHost({ machine: { vcs: { ...noVcs, root, status } } })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session, workingDirectories: [`file://${directory}`] })
  await ann.ask('subscribe', { channel: session })
  const state = () => ann.state(session) as unknown as SessionState
  await ann.until(() => state().lifecycle === 'ready')
  await untilIdle()
  let turns = 0
  const turn = async () => {
    const { defaultChat = '' } = state()
    await ann.ask('subscribe', { channel: defaultChat })
    const turnId = `t${++turns}`
    ann.dispatch(defaultChat, started(turnId))
    await ann.until(() => JSON.stringify(ann.state(defaultChat)['turns']).includes(`"${turnId}"`))
    await untilIdle()
  }
  const appended = () => ann.envelopes.filter(({ action }) => action.type === 'session/metaChanged').length
  return { all, state, turn, appended }
}

test('[Q9] a session has the working tree of its directory, and its git status', async () => {
  let status = clean
  const { state, turn, appended } = await inDirectory('/w/deep', async () => status)
  expect(state().project).toEqual({ uri: 'file:///w', displayName: 'w' })
  const git = { branchName: 'main', upstreamBranchName: 'origin/main', outgoingChanges: 1 }
  expect(state()._meta?.['git']).toMatchObject({ ...git, uncommittedChanges: 0 })
  const before = appended()
  await turn()
  expect(appended()).toBe(before)
  status = { ...clean, changes: [{ path: 'a', type: 'added' }] }
  await turn()
  expect(appended()).toBe(before + 1)
  expect(state()._meta?.['git']).toMatchObject({ ...git, uncommittedChanges: 1 })
})

test('[Q9] outside of working trees the project is the directory, without a git status', async () => {
  const { state, turn } = await inDirectory('/srv/app', async () => clean)
  await turn()
  expect(state().project).toEqual({ uri: 'file:///srv/app', displayName: 'app' })
  expect(state()._meta?.['git']).toBeUndefined()
})

test('[Q9] if git fails, the last status stays', async () => {
  let fails = false
  const { all, state, turn, appended } = await inDirectory('/w', async () => {
    if (fails) throw new Error('git is broken')
    return clean
  })
  const before = appended()
  fails = true
  await turn()
  expect(all.world.reports.length).toBeGreaterThan(0)
  expect(appended()).toBe(before)
  expect(state()._meta?.['git']).toMatchObject({ branchName: 'main' })
})
