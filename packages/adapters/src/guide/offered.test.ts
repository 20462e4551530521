import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import {
  desk,
  ended,
  enter,
  say,
  session,
  chat,
  callsIn,
  answer,
  pending,
  denied,
} from '../../../host/test/approvals.ts'
import type { Client } from '../../../host/test/test-host.ts'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { guide } from './guide.ts'

const tools = [
  { name: 'count', title: 'Count' },
  { name: 'erase', annotations: { destructiveHint: true } },
]
const activeClient = { clientId: 'ann', displayName: 'Ann', tools }
const state = (client: Client) => client.state(chat) as unknown as ChatState
const textOf = ({ responseParts }: { readonly responseParts: readonly object[] } = { responseParts: [] }) =>
  responseParts
    .map((part) => ('content' in part && typeof part.content === 'string' ? part.content : ''))
    .join('')

/** Ann offers tools. Ben watches. */
async function room() {
  const { all, ann } = await desk()
  await ann.echo(ann.dispatch(session, { type: 'session/activeClientSet', activeClient }))
  return { all, ann, ben: await enter(all, 'ben', [session, chat]) }
}
const completes = (client: Client, result: object) => {
  const { activeTurn } = state(client)
  const { toolCallId } = callsIn(activeTurn)[0] ?? {}
  const action = { type: 'chat/toolCallComplete', turnId: activeTurn?.id, toolCallId, result }
  return client.echo(client.dispatch(chat, action))
}
const running = (client: Client) =>
  client.until(() => callsIn(state(client).activeTurn)[0]?.status === 'running')

test('[N5.6] [N5] call: the guide calls a tool of a client, and shows its result', async () => {
  const { ann, ben } = await room()
  const turnId = await say(ben, 'call count {"path": "a.txt"}')
  await running(ann)
  expect(callsIn(state(ann).activeTurn)).toMatchObject([
    { toolName: 'count', displayName: 'Count', toolInput: '{"path": "a.txt"}', confirmed: 'not-needed' },
  ])
  await completes(ann, {
    success: true,
    pastTenseMessage: 'Counted',
    content: [{ type: 'text', text: '3 lines\u202e' }],
  })
  expect(textOf(await ended(ben, turnId))).toBe('3 lines')
})

test.each([
  [{ success: true, pastTenseMessage: 'Counted' }, 'Counted'],
  [{ success: true, pastTenseMessage: '' }, 'The call has ended.'],
  [
    { success: false, pastTenseMessage: 'Did not', error: { message: 'no such file' } },
    'The call failed: no such file',
  ],
  [{ success: false, pastTenseMessage: { markdown: 'Did not' } }, 'The call failed: Did not'],
])('[N5] call: %j is shown as %j', async (result, text) => {
  const { ann } = await room()
  const turnId = await say(ann, 'call count')
  await running(ann)
  await completes(ann, result)
  expect(textOf(await ended(ann, turnId))).toBe(text)
})

test('[N5] call: a denied tool is not run', async () => {
  const { ann, ben } = await room()
  const turnId = await say(ben, 'call erase {}')
  await pending(ben)
  expect(await answer(ben, { ...denied, reasonMessage: 'Not now.' })).toBeUndefined()
  expect(textOf(await ended(ann, turnId))).toBe('The call was not allowed. Not now.')
})

test('[N5.6] [N5] call: an unknown tool is answered with the tools there are, and a wrong input with the usage', async () => {
  const { ann } = await room()
  const says = async (text: string) => textOf(await ended(ann, await say(ann, text)))
  expect(await says('call nothing {}')).toBe(
    'There is no tool `nothing`. The tools of this session are `count`, `erase`.',
  )
  for (const text of ['call', 'call count [1]', 'call count {', 'call count "x"'])
    expect(await says(text)).toContain('`call <tool> {json}`')
  const alone = await new HostlessChat(guide(() => () => {})).turn('call x')
  expect(textOf(alone)).toBe('There is no tool `x`. No client offers a tool to this session.')
})

test('[N6.1] [N6] I6: a call that a client may have begun to run is not made again after an interruption', async () => {
  const later = (_: number, task: () => void) => {
    const immediate = setImmediate(task)
    return () => clearImmediate(immediate)
  }
  for (const [type, starts, text] of [
    ['chat/toolCallReady', 0, 'The call was interrupted. I do not know what it has done.'],
    ['chat/toolCallDelta', 1, ''],
  ] as const) {
    const stage = new HostlessChat(guide(later))
    stage.session = { ...stage.session, activeClients: [activeClient] }
    const run = stage.begin('call count {}')
    while (run.said.at(-1)?.type !== type && (await run.step()));
    await run.cut()
    const again = stage.resume()
    if (starts > 0) while (again.said.at(-1)?.type !== 'chat/toolCallReady' && (await again.step()));
    else expect(textOf(await again.end())).toBe(text)
    expect(again.said.filter((action) => action.type === 'chat/toolCallStart')).toHaveLength(starts)
  }
})
