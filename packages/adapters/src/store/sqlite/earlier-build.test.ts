import { copyFileSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChatState } from '@atrium/protocol/chat/state'
import { pair } from '@atrium/protocol/rpc/pair'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { hostOf } from '../../../../host/src/host.ts'
import { openCore } from '../../../../host/src/open.ts'
import { Client } from '../../../../host/test/test-host.ts'
import { testWorld } from '../../../../host/test/world.ts'
import { newFolder, open } from '../../../test/store-folder.ts'
import { guide } from '../../guide/guide.ts'

/**
 * A data folder that an earlier build has written. It has one session with two finished turns, a turn that waits for
 * approval, a queued message, a granted folder and a permission. The folder must never be recorded again, because it proves
 * that this build still reads the names and formats of earlier builds.
 */
const recorded = fileURLToPath(new URL('../../../test/data/earlier-build/atrium.db', import.meta.url))
const session = 'ahp-session:/d1271803-cf60-453c-88bd-731a01540000'
const chat = defaultChatUri(session)
const lastSeq = 1_794_804_222_421_021

test('[L8] [F-48] a data folder of an earlier build opens, and its session continues', async () => {
  const folder = newFolder()
  copyFileSync(recorded, join(folder, 'atrium.db'))
  const world = testWorld(Date.parse('2026-12-01T00:00:00Z'))
  const store = await open(folder)
  const core = await openCore({ store, world, agents: [guide(world.later)], build: 'test' })
  const [near, far] = pair()
  const host = hostOf(core)
  host.connect(near, 'owner')
  const client = new Client(far)
  await client.initialize('ann', ['ahp-root://'])

  const { items } = await client.ask('listSessions', {})
  expect(items).toMatchObject([
    {
      resource: session,
      provider: 'guide',
      title: 'say hello world',
      workingDirectories: ['file:///srv/demo'],
    },
  ])
  expect(client.state('ahp-root://')).toMatchObject({
    config: {
      values: {
        'atrium.grants': [{ uri: 'file:///srv/demo', write: true }],
        'atrium.permissions': [{ tool: 'read', folder: 'file:///srv/demo' }],
      },
    },
  })

  for (const channel of [session, chat]) await client.ask('subscribe', { channel })
  // The client has one type for the states of all channels. This channel is a chat.
  const state = () => client.state(chat) as unknown as ChatState
  expect(state()).toMatchObject({
    turns: [
      {
        message: { text: 'say hello world' },
        state: 'complete',
        responseParts: [{ content: 'hello world' }],
      },
      {
        message: { text: 'read notes.txt' },
        state: 'complete',
        responseParts: [{ toolCall: { status: 'completed', toolName: 'read' } }],
      },
    ],
    activeTurn: {
      message: { text: 'write notes.txt more' },
      responseParts: [{ toolCall: { status: 'pending-confirmation', toolName: 'write' } }],
    },
    queuedMessages: [{ message: { text: 'say from the queue' } }],
  })

  const { id: turnId = '', responseParts = [] } = state().activeTurn ?? {}
  const [part] = responseParts
  const toolCallId = part?.kind === 'toolCall' ? part.toolCall.toolCallId : ''
  client.dispatch(chat, {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId,
    approved: false,
    reason: 'denied',
  })
  await client.until(() => state().turns.length === 4)
  expect(state().turns.slice(2)).toMatchObject([
    { state: 'complete', responseParts: [{ toolCall: { status: 'cancelled' } }] },
    { message: { text: 'say from the queue' }, responseParts: [{ content: 'from the queue' }] },
  ])
  expect(client.envelopes.every(({ serverSeq }) => serverSeq > lastSeq)).toBe(true)
  expect(world.reports.filter(({ event }) => /damage|fail|error/i.test(event))).toEqual([])
  await host.close()
  // The folder was backed up before its migration.
  const [backup = '', ...others] = readdirSync(folder).filter((name) => name.startsWith('atrium-v1-'))
  expect(others).toEqual([])
  expect(readFileSync(join(folder, backup)).includes('say from the queue')).toBe(true)
})
