import { ownDataOf } from '@atrium/protocol/annotations/own'
import { expect, test } from 'vitest'
import { stateOf } from '../../../test/annotated/annotated.ts'
import { FakeFiles } from '../../../test/fake-files.ts'
import { chat, chatOf, oneClientSession, session, started } from '../../../test/one-client-session.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'

const uri = `${session}/annotations`
const notes = (client: Client) => stateOf(client, uri).annotations

/** An agent in a turn, and Ann, who follows the annotations of its session. */
async function working(limits = {}) {
  const files = new FakeFiles()
  files.put('/w/a.txt', 'one\ntwo\nthree')
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, { machine: { files }, limits })
  await ann.echo(ann.dispatch(session, { type: 'session/workingDirectorySet', directory: 'file:///w' }))
  await ann.ask('subscribe', { channel: uri })
  ann.dispatch(chat, started('t1'))
  const run = await agent.given()
  return { all, ann, run, files, comments: run.chat.comments }
}

test('[H32] a comment of an agent belongs to its turn, and follows its text as any other', async () => {
  const { ann, comments, files } = await working()
  const id = await comments.add({ path: 'a.txt', line: 2, text: 'Hm.' })
  await ann.until(() => notes(ann).some((each) => ownDataOf(each).anchor !== undefined))
  expect(notes(ann)).toMatchObject([{ id, origin: { session, chat, turnId: 't1' }, resolved: false }])
  files.put('/w/a.txt', 'zero\none\ntwo\nthree')
  expect((await comments.list('a.txt'))[0]?.text).toContain('/w/a.txt, line 3:')
  await comments.resolve(id, true)
  await comments.reply(id.slice(0, -1), 'Never mind.')
  await ann.until(() => notes(ann)[0]?.entries.length === 2)
  expect(notes(ann)[0]).toMatchObject({ resolved: true, range: { start: { line: 2 } } })
})

test('[H32] the limits of clients hold for agents', async () => {
  const { ann, comments } = await working({ annotations: 1 })
  await comments.add({ path: 'a.txt', text: 'One.' })
  await expect(comments.add({ path: 'a.txt', text: 'Two.' })).rejects.toMatchObject({
    name: 'TurnFailed',
    message: 'a session has at most 1 annotations: remove some first',
  })
  await expect(comments.add({ path: 'a.txt', line: 3, lastLine: 2, text: '' })).rejects.toThrow(
    '"a.txt": the last line is before the first',
  )
  expect(notes(ann)).toHaveLength(1)
})

test('[H32.2] when its turn is over, an agent can comment no more', async () => {
  const { ann, comments, run } = await working()
  run.end()
  await ann.until(() => chatOf(ann).turns.length === 1)
  await expect(comments.add({ path: 'a.txt', text: 'late' })).rejects.toThrow()
  await expect(comments.list()).rejects.toThrow()
  expect(notes(ann)).toEqual([])
})
