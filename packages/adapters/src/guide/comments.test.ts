import { authorOf } from '@atrium/protocol/annotations/own'
import type { AnnotationsState } from '@atrium/protocol/annotations/state'
import { expect, test } from 'vitest'
import { callsIn, chat, desk, ended, enter, say, session } from '../../../host/test/approvals.ts'
import type { Client } from '../../../host/test/test-host.ts'

const uri = `${session}/annotations`
const notes = (client: Client) => (client.state(uri) as unknown as AnnotationsState).annotations

async function room() {
  const { all, ann } = await desk()
  await ann.ask('subscribe', { channel: uri })
  return { ann, ben: await enter(all, 'ben', [uri, chat]) }
}

/** Sends a message, and returns the outcome of the guide's call. */
async function told(client: Client, text: string) {
  const [call] = callsIn(await ended(client, await say(client, text)))
  return call?.status === 'completed' ? { ...call, text: JSON.stringify(call.content) } : undefined
}

test('[H32.3] [N5] [H32] comment: the guide comments on a line without asking, and everybody sees it', async () => {
  const { ann, ben } = await room()
  const call = await told(ann, 'comment a.txt:2 Is this *right*?')
  expect(call).toMatchObject({ success: true, confirmed: 'not-needed' })
  await ben.until(() => notes(ben).length === 1)
  expect(notes(ben)).toMatchObject([
    {
      origin: { session, chat },
      resource: 'file:///w/a.txt',
      range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } },
      resolved: false,
      entries: [{ text: { markdown: 'Is this *right*?' } }],
    },
  ])
  const [entry] = notes(ben)[0]?.entries ?? []
  expect(entry && authorOf(entry)).toMatchObject({ provider: 'guide', chat })
  expect(call?.text).toContain(notes(ben)[0]?.id)
})

test('[H32.3] [N5] [H32] reply: the guide answers a comment of a person, which it names by the beginning of its id', async () => {
  const { ann, ben } = await room()
  const annotation = {
    id: 'note-77',
    origin: { session },
    resource: 'file:///w/a.txt',
    resolved: false,
    entries: [{ id: 'e1', text: 'why?' }],
  }
  await ann.echo(ann.dispatch(uri, { type: 'annotations/set', annotation }))
  expect((await told(ben, 'comments'))?.text).toContain('Comment note-77 on /w/a.txt:')
  expect(await told(ben, 'reply note-7 Because.')).toMatchObject({ success: true })
  await ann.until(() => notes(ann)[0]?.entries.length === 2)
  expect(notes(ann)[0]?.entries[1]).toMatchObject({ text: { markdown: 'Because.' } })
})

test.each([
  ['comment a.txt:9 too far', 'has the lines 1 to 4'],
  ['comment b.txt:1 what', 'there is no file'],
  ['comment /etc/passwd hm', 'outside the directories of this session'],
  ['comment .env:1 secret', 'cannot be read'],
  ['reply nobody hello', 'there is no annotation'],
])('[H32.1] [H32] %s: the call fails with a sentence, and no comment is made', async (text, reason) => {
  const { ann } = await room()
  expect(await told(ann, text)).toMatchObject({
    success: false,
    error: { message: expect.stringContaining(reason) },
  })
  expect(notes(ann)).toEqual([])
})
