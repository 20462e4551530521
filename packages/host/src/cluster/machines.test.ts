import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { leaseMs, testCluster } from '../../test/cluster/nodes.ts'
import { FakeFiles } from '../../test/fake-files.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { started } from '../../test/two-client-session.ts'
import type { Machine } from '../catalog/machines.ts'
import type { Agent } from '../ports/agent.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const folder = 'file:///srv/projects/a'

/** A session that was created at machine A, and that was taken over by machine B. */
async function movedSession(workingDirectories: readonly string[], b: Partial<Machine> = {}) {
  const ran: string[] = []
  const agent: Agent = {
    info: { provider: 'mock', displayName: 'Mock', description: '', models: [] },
    resumes: false,
    async *run({ turnId }) {
      ran.push(turnId)
      yield* []
    },
  }
  const files = new FakeFiles()
  files.put('/srv/projects/a/x', 'text')
  const cluster = testCluster({ agents: [agent], files })
  const at = (machine: Machine) => cluster.add(machine.name, {}, { machine })
  const one = at({ name: 'A', sharedFolders: [] })
  const two = at({ name: 'B', sharedFolders: [], ...b })
  await one.node.start()
  await two.node.start()
  const ann = await one.join('ann')
  await ann.ask('createSession', { channel: session, provider: 'mock', workingDirectories })
  await ann.ask('subscribe', { channel: chat })
  await ann.echo(ann.dispatch(chat, started('t1')))
  await untilIdle()
  expect(ran).toEqual(['t1'])
  await one.node.close()
  await cluster.pass(leaseMs / 2)
  const ben = await two.join('ben', [session, chat])
  return { ben, ran }
}

test('[L44] [L44.1] on another machine a session can be read, and its turn ends with a sentence; no agent is started', async () => {
  const { ben, ran } = await movedSession([folder])
  expect(ben.state(chat)['turns']).toMatchObject([{ id: 't1' }])
  await ben.echo(ben.dispatch(chat, started('t2')))
  const failed = () => ben.envelopes.find(({ action }) => action.type === 'chat/error')
  await ben.until(() => failed() !== undefined)
  expect(failed()?.action).toMatchObject({
    turnId: 't2',
    part: {
      error: {
        errorType: 'elsewhere',
        message: expect.stringMatching(/on the machine "A", and this is "B"/),
      },
    },
  })
  expect(ran).toEqual(['t1'])
})

test('[L44.2] the folders of a session on another machine give no access to files', async () => {
  const { ben } = await movedSession([folder])
  const read = ben.ask('resourceRead', { channel: 'ahp-root://', uri: `${folder}/x` })
  await expect(read).rejects.toThrow('it must be granted first')
})

test.each([
  ['whose folders are shared', [folder], { sharedFolders: ['file:///srv/projects'] }],
  ['without folders', [], {}],
  ['of a machine with the same name', [folder], { name: 'A' }],
])('[L44.3] a session %s works on the next owner', async (_, folders, machine) => {
  const { ben, ran } = await movedSession(folders, machine)
  await ben.echo(ben.dispatch(chat, started('t2')))
  await untilIdle()
  expect(ran).toEqual(['t1', 't2'])
})

test('[L44.3] a folder beside a shared one is not shared', async () => {
  const { ben, ran } = await movedSession([folder], { sharedFolders: ['file:///srv/proj'] })
  await ben.echo(ben.dispatch(chat, started('t2')))
  await untilIdle()
  expect(ran).toEqual(['t1'])
})
