import type { SessionSummary } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { desk, ended, enter, say, session } from '../../../test/approvals.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'

const fork = 'guide:/fork'

/** A session with two turns, which a client of 0.8 forks at the first one. */
async function forked(text = 'say one') {
  const { all, ann } = await desk()
  const turnId = await say(ann, text)
  await ended(ann, turnId)
  await ended(ann, await say(ann, text))
  const watcher = await enter(all, 'watcher')
  // The host collects what happens in quick succession, so the announcement of the source may still come.
  for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(100)
  watcher.notes.length = 0
  const old = new OlderClient(all, '0.8.0')
  await old.open()
  await old.createSession(fork, { provider: 'guide', fork: { session, turnId } })
  for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(100)
  return { all, ann, old, watcher }
}

test('[V8.8] [H7] state model, Session Forking: a session with copied turns is announced, listed and counted at once', async () => {
  // Without a title, only the copied turns show that the session is in use.
  const { ann, watcher } = await forked('')
  const added = watcher.notes.filter(({ method }) => method === 'root/sessionAdded')
  expect(added.map(({ params }) => (params['summary'] as SessionSummary).resource)).toEqual([fork])
  const { items } = await ann.ask('listSessions', {})
  expect(items.map(({ resource }) => resource).toSorted()).toEqual([fork, session].toSorted())
  expect(watcher.state('ahp-root://')).toMatchObject({ activeSessions: 2 })
})

test('[V8.8] [H11] state model, Session Forking: the new session and its chat have the title of the source', async () => {
  const { ann } = await forked()
  const { items } = await ann.ask('listSessions', {})
  expect(items.map(({ title }) => title)).toEqual(['say one', 'say one'])
  const { snapshot } = await ann.ask('subscribe', { channel: fork })
  expect(snapshot?.state).toMatchObject({ title: 'say one', chats: [{ title: 'say one' }] })
})

test('[V8.8] [H6] state model, Session Forking: a fork outlives its creator, because it has turns', async () => {
  const { all, ann, old } = await forked('')
  old.unplug()
  await untilIdle()
  all.world.advance(4 * 60 * 60_000)
  await untilIdle()
  expect((await ann.ask('listSessions', {})).items).toHaveLength(2)
})
