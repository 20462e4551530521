import type { ChatState } from '@atrium/protocol/chat/state'
import type { ToolCallState } from '@atrium/protocol/chat/tool'
import type { RootState } from '@atrium/protocol/root/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri, rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import {
  answer,
  approve,
  callsIn,
  chat,
  denied,
  desk,
  ended,
  enter,
  pending,
  say,
  session,
  state,
  startedAt,
} from '../../../test/approvals.ts'
import type { Client } from '../../../test/test-host.ts'
import { choices } from '../access/choices.ts'

test('[X1.2] [X1] a tool call asks with options, and runs with the edited input', async () => {
  const { ann, terminals } = await desk()
  const turnId = await say(ann, 'run ls')
  const call = await pending(ann)
  expect(call).toMatchObject({ toolName: 'run', toolInput: 'ls', editable: true })
  expect('options' in call && call.options?.map(({ id }) => id)).toEqual(Object.values(choices))
  expect((ann.state(session) as unknown as SessionState).inputNeeded).toMatchObject([
    { kind: 'toolConfirmation' },
  ])
  expect(terminals.shells).toEqual([])
  expect(await answer(ann, { editedToolInput: 'ls -l', selectedOptionId: choices.once })).toBeUndefined()
  const [done] = callsIn(await ended(ann, turnId))
  expect(done).toMatchObject({
    status: 'completed',
    success: true,
    confirmed: 'user-action',
    toolInput: 'ls -l',
  })
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['ls -l'])
  expect(done).toMatchObject({ content: [{ type: 'terminal' }, { type: 'text', text: 'ran ls -l' }] })
})

test('[X1.4] [X1] a denied call is not run, with or without a reason, and the turn completes', async () => {
  const { ann, terminals } = await desk()
  for (const given of [
    denied,
    { ...denied, selectedOptionId: choices.denyWhy, reasonMessage: 'not today' },
  ]) {
    const turnId = await say(ann, 'run ls')
    await pending(ann)
    expect(await answer(ann, given)).toBeUndefined()
    const turn = await ended(ann, turnId)
    expect(turn?.state).toBe('complete')
    expect(callsIn(turn)[0]).toMatchObject({ status: 'cancelled', reason: 'denied' })
  }
  expect(terminals.shells).toEqual([])
})

test('[X1.2] [X1.3] [X1] [S-17] [F-33] of two concurrent answers one wins; forged, foreign and late answers are refused', async () => {
  const { all, ann } = await desk()
  const ben = await enter(all, 'ben', [session, chat])
  const turnId = await say(ann, 'read a.txt')
  await Promise.all([pending(ann), pending(ben)])
  for (const [given, why] of [
    [{ turnId: 'nope' }, /no such turn/],
    [{ toolCallId: 'nope' }, /no such tool call/],
    [{ selectedOptionId: 'nope' }, 'this option was not offered'],
    [{ selectedOptionId: choices.deny }, 'the selected option contradicts `approved`'],
    [{ ...denied, selectedOptionId: choices.session }, 'the selected option contradicts `approved`'],
    [{ editedToolInput: '/etc/passwd' }, 'the input of this tool call cannot be edited'],
  ] as const)
    expect(await answer(ben, given), JSON.stringify(given)).toMatch(why)
  const both = await Promise.all([answer(ann, {}), answer(ben, denied)])
  expect(both.filter((reason) => reason === undefined)).toHaveLength(1)
  await ended(ann, turnId)
  const call = callsIn(state(ann).turns.at(-1))[0] as ToolCallState
  const again = {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId: call.toolCallId,
    approved: true,
    confirmed: 'user-action',
  }
  expect((await ben.echo(ben.dispatch(chat, again))).rejectionReason).toMatch(/no such turn/)
})

test('[X2.1] [X2.5] [X2] a permission for a session is visible, survives a restart, is used, and can be revoked', async () => {
  const { all, ann } = await desk()
  await ended(ann, await approve(ann, 'read a.txt', choices.session))
  const permission = { tool: 'read', by: 'ann', since: expect.any(String) as string }
  const listed = (client: Client) =>
    ((client.state(session) as unknown as SessionState).config?.values['atrium.permissions'] ??
      []) as unknown[]
  await ann.until(() => listed(ann).length === 1)
  expect(listed(ann)).toMatchObject([permission])
  await all.restart()
  const ben = await enter(all, 'ben', [session, chat])
  expect(listed(ben)).toMatchObject([permission])
  const [free] = callsIn(await ended(ben, await say(ben, 'read a.txt')))
  expect(free).toMatchObject({
    status: 'completed',
    confirmed: 'setting',
    content: [{ text: 'one\ntwo\nthree\n' }],
  })
  const revoke = { type: 'session/configChanged', config: { 'atrium.permissions': [] } }
  expect((await ben.echo(ben.dispatch(session, revoke))).rejectionReason).toBeUndefined()
  await say(ben, 'read a.txt')
  expect(await pending(ben)).toMatchObject({ toolName: 'read' })
})

test('[X2] a permission for a folder holds in every session with that directory, and in no other', async () => {
  const { ann } = await desk()
  await ended(ann, await approve(ann, 'run ls', choices.folder))
  const root = () => ann.state(rootUri) as unknown as RootState
  await ann.until(() => root().config?.values['atrium.permissions'] !== undefined)
  expect(root().config?.values['atrium.permissions']).toMatchObject([
    { tool: 'run', folder: 'file:///w', by: 'ann' },
  ])
  for (const [uri, folder, asks] of [
    ['s:/2', 'file:///w', false],
    ['s:/3', 'file:///w2', true],
  ] as const) {
    await ann.ask('createSession', { channel: uri, workingDirectories: [folder] })
    const other = defaultChatUri(uri)
    await ann.ask('subscribe', { channel: other })
    const message = { text: 'run ls', origin: { kind: 'user' } }
    ann.dispatch(other, { type: 'chat/turnStarted', turnId: 't', startedAt, message })
    const now = () => ann.state(other) as unknown as ChatState
    await ann.until(
      () => now().turns.length === 1 || callsIn(now().activeTurn)[0]?.status === 'pending-confirmation',
    )
    expect(now().activeTurn !== undefined).toBe(asks)
  }
})

test('[X2] an invalid list of permissions is refused', async () => {
  const { ann } = await desk()
  for (const list of ['all', [{}], [{ id: 'x', tool: 'run', folder: 'https://example.com' }]])
    for (const [channel, type] of [
      [session, 'session/configChanged'],
      [rootUri, 'root/configChanged'],
    ] as const) {
      const action = { type, config: { 'atrium.permissions': list } }
      expect((await ann.echo(ann.dispatch(channel, action))).rejectionReason).toMatch(
        /atrium\.permissions|array/,
      )
    }
})

test('[S-57 permissions] at 256 permissions the list is accepted', () => many(256, undefined))
test('[S-57 permissions] past 256 the list is refused', () => many(257, 'there are at most 256 permissions'))

async function many(count: number, reason: string | undefined): Promise<void> {
  const { ann } = await desk()
  const list = Array.from({ length: count }, (_, n) => ({ id: String(n), tool: `t${n}` }))
  const action = { type: 'session/configChanged', config: { 'atrium.permissions': list } }
  expect((await ann.echo(ann.dispatch(session, action))).rejectionReason).toBe(reason)
}

test('[X5] I6, I7: a confirmation stays open over a crash of the host; once approved, the call runs once', async () => {
  const { all, ann, terminals } = await desk()
  const turnId = await say(ann, 'run make')
  await pending(ann)
  await all.restart('crash')
  const ben = await enter(all, 'ben', [session, chat])
  expect(await pending(ben)).toMatchObject({ toolInput: 'make' })
  expect(await answer(ben, {})).toBeUndefined()
  const turn = await ended(ben, turnId)
  expect(turn?.state).toBe('complete')
  expect(callsIn(turn)).toMatchObject([{ status: 'completed', success: true }])
  expect(terminals.shells.map(({ start }) => start.command)).toEqual(['make'])
})

test('[X6] any client of the session can answer an input request, also after a restart', async () => {
  const { all, ann } = await desk()
  const turnId = await say(ann, 'ask What shall we build?')
  await ann.until(() => (ann.state(session) as unknown as SessionState).inputNeeded?.length === 1)
  await all.restart('crash')
  // Ben is subscribed to the session, and not to the chat.
  const ben = await enter(all, 'ben', [session])
  const [needed] = (ben.state(session) as unknown as SessionState).inputNeeded ?? []
  if (needed?.kind !== 'chatInput') throw new Error('no question')
  const submitted = (value: object) => ({ state: 'submitted', value })
  const answers = {
    name: submitted({ kind: 'text', value: 'Atrium' }),
    price: submitted({ kind: 'number', value: 2.5 }),
    count: submitted({ kind: 'number', value: 3 }),
    gift: submitted({ kind: 'boolean', value: true }),
    size: submitted({ kind: 'selected', value: 'large' }),
    extras: submitted({ kind: 'selected-many', value: ['box'], freeformValues: ['ribbon'] }),
  }
  const completed = (given: object) => ({
    type: 'chat/inputCompleted',
    requestId: needed.request.id,
    ...given,
  })
  const tell = async (given: object) =>
    (await ben.echo(ben.dispatch(needed.chat, completed(given) as never))).rejectionReason
  expect(await tell({ response: 'accept' })).toBe('a required question is not answered')
  expect(await tell({ response: 'accept', answers })).toBeUndefined()
  const cat = await enter(all, 'cat', [chat])
  const turn = await ended(cat, turnId)
  const text = turn?.responseParts.at(-1)
  expect(text?.kind === 'markdown' && text.content).toBe(
    [
      'You answered:',
      '',
      '- What shall it be called? Atrium',
      '- What may it cost? 2.5',
      '- How many? 3',
      '- Is it a gift? Yes',
      '- Which size? large',
      '- Anything with it? box, ribbon',
    ].join('\n'),
  )
})
