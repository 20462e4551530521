import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AnnotationsState } from '@atrium/protocol/annotations/state'
import { fileUri } from '@atrium/protocol/file-uri'
import { annotationsUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { acpRoom, callsOf, session, textOf } from '../../../test/acp-room.ts'
import type { AcpRoom } from '../../../test/acp-room.ts'

const uri = annotationsUri(session)
// The test client has one plain type for the states of all channels. This channel has annotations.
const annotations = ({ ann }: AcpRoom) => (ann.state(uri) as unknown as AnnotationsState).annotations

/** A room whose session has a file with a comment of Ann. */
async function commented(): Promise<AcpRoom> {
  const room = await acpRoom({ quirks: ['http', 'resume'] })
  await comment(room)
  return room
}

async function comment({ ann, folder }: AcpRoom): Promise<void> {
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\nthree\n')
  await ann.ask('subscribe', { channel: uri })
  const annotation = {
    id: 'n1',
    origin: { session },
    resource: fileUri(join(folder, 'a.txt')),
    range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } },
    resolved: false,
    entries: [{ id: 'e1', text: 'Why two?' }],
  }
  await ann.echo(ann.dispatch(uri, { type: 'annotations/set', annotation }))
}

test('[N50.5] [H32.3] [N50] [H32] an agent reads the comments of its session, answers one and resolves it, without approval', async () => {
  const room = await commented()
  const turn = await room.turn(
    'mcp-list atrium\nmcp atrium comments {}\nmcp atrium reply {"id":"n1","text":"It is even.","resolve":true}',
  )
  const text = textOf(turn)
  expect(text).toContain('comments, comment, reply|')
  expect(text).toContain('> 2 | two')
  expect(text).toContain('Why two?')
  expect(text).toContain('result: Answered.')
  expect(callsOf(turn.responseParts)).toMatchObject([
    { toolName: 'comments', status: 'completed', confirmed: 'not-needed', success: true },
    { toolName: 'reply', status: 'completed', confirmed: 'not-needed', success: true },
  ])
  await room.ann.until(() => annotations(room)[0]?.resolved === true)
  expect(annotations(room)[0]?.entries).toMatchObject([
    { text: 'Why two?' },
    { text: { markdown: 'It is even.' }, _meta: { 'x-atrium': { author: { provider: 'mock' } } } },
  ])
})

test('[N50] [H32] an agent comments on a line; bad input is an error for the agent, and changes nothing', async () => {
  const room = await commented()
  const text = textOf(
    await room.turn(
      [
        'mcp atrium comment {"path":"a.txt","line":3,"text":"Too many."}',
        'mcp atrium comment {"path":"a.txt","line":9,"text":"Nowhere."}',
        'mcp atrium comment {"path":"a.txt","line":"3","text":"No number."}',
        'mcp atrium comment {"path":"a.txt"}',
        'mcp atrium reply {"id":"other","text":"Who?"}',
      ].join('\n'),
    ),
  )
  const [made, ...refused] = text.split('|')
  expect(made).toMatch(/^result: The comment has the id \S+\.$/)
  expect(refused).toEqual([
    'error: Failed: "a.txt" has the lines 1 to 4',
    'error: Failed: "line" must be a whole number',
    'error: Failed: "text" must be a text that is not empty',
    'error: Failed: there is no annotation "other"',
  ])
  await room.ann.until(() => annotations(room).length === 2)
  expect(annotations(room)[1]).toMatchObject({ range: { start: { line: 2 } } })
})

test('[N50.5] [N50] without comments an agent has no tools for them; with the first comment it gets the server', async () => {
  const room = await acpRoom({ quirks: ['http', 'resume'] })
  await room.turn('say one')
  await comment(room)
  expect(textOf(await room.turn('mcp-list atrium'))).toBe('comments, comment, reply')
  await room.ann.echo(room.ann.dispatch(uri, { type: 'annotations/removed', annotationId: 'n1' }))
  expect(textOf(await room.turn('mcp atrium comments {}'))).toBe(
    'error: There is no tool "comments". The tools are: none.',
  )
})

test('[N50.5] [N50] a tool of a client with the same name takes precedence', async () => {
  const room = await commented()
  const { clientId } = room.ann
  const activeClient = { clientId, displayName: 'Ann', tools: [{ name: 'reply' }] }
  await room.ann.echo(room.ann.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  const turnId = room.begin('mcp-list atrium\nmcp atrium reply {"id":"n1","text":"Hm."}')
  const calls = () => callsOf(room.chat.activeTurn?.responseParts ?? [])
  await room.ann.until(() => calls().some(({ status }) => status === 'running'))
  expect(calls()).toMatchObject([{ toolName: 'reply', contributor: { kind: 'client', clientId } }])
  room.ann.dispatch(room.chat.resource, {
    type: 'chat/toolCallComplete',
    turnId,
    toolCallId: calls()[0]?.toolCallId,
    result: { success: true, pastTenseMessage: 'Done', content: [{ type: 'text', text: 'by Ann' }] },
  })
  expect(textOf(await room.ended(turnId))).toBe('reply, comments, comment|result: by Ann')
  expect(annotations(room)[0]?.entries).toHaveLength(1)
})

test('[N50] an agent that crashes after an answer does not answer twice when its turn is resumed', async () => {
  // An agent that cannot restore its session gets the message once more.
  const room = await acpRoom({ quirks: ['http'] })
  await comment(room)
  const activeClient = { clientId: room.ann.clientId, displayName: 'Ann', tools: [{ name: 'wait' }] }
  await room.ann.echo(room.ann.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  const turnId = room.begin('mcp atrium reply {"id":"n1","text":"Once."}\nmcp atrium wait {}')
  const isWaiting = () =>
    callsOf(room.chat.activeTurn?.responseParts ?? []).some(
      ({ status, toolName }) => status === 'running' && toolName === 'wait',
    )
  await room.ann.until(isWaiting)
  process.kill(Number(room.agent.lines('started').at(-1)), 'SIGKILL')
  await room.ended(turnId)
  room.resume(turnId)
  await room.ann.until(() => room.chat.turns.at(-1)?.state === 'complete')
  expect(textOf(room.chat.turns.at(-1) ?? { responseParts: [] })).toContain('result: Answered.')
  expect(annotations(room)[0]?.entries).toHaveLength(2)
})
