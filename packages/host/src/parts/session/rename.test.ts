import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import { severalChats } from '../../../test/several-chats.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'

const session = 'ahp-session:/one'
const second = 'ahp-chat:/two'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

interface Listed {
  readonly resource: string
  readonly title: string
}

/** Ann and Ben follow a session with two chats. Ann also follows its chats. */
async function twoChats() {
  const all = await testHost({ agents: [severalChats()] })
  const ben = await all.join('ben')
  await ben.ask('createSession', { channel: session })
  await ben.ask('subscribe', { channel: session })
  await ben.until(() => ben.state(session)['lifecycle'] === 'ready')
  await ben.ask('createChat', { channel: session, chat: second })
  const first = String(ben.state(session)['defaultChat'])
  const ann = await all.join('ann', { subscribe: [session, first, second] })
  return { all, ann, ben, first }
}

const chatTitles = (client: Client) =>
  new Map((client.state(session)['chats'] as readonly Listed[]).map((chat) => [chat.resource, chat.title]))

/** The envelope that a client gets on the channel of a chat for its own action. */
async function echoOn(client: Client, channel: string, clientSeq: number) {
  const find = () =>
    client.envelopes.find((each) => each.channel === channel && each.origin?.clientSeq === clientSeq)
  await client.until(() => find() !== undefined)
  return find()
}

/** The stored actions that Ann dispatched, with their channels. */
const stored = async (all: TestHost) =>
  (await all.store().log.dispatchedBy('ann', 0, 10)).map(({ channel, action }) => ({
    channel,
    ...(JSON.parse(action) as object),
  }))

test('[H7] [H7.9] a rename on the default chat renames the chat and the session, and is stored on the session', async () => {
  const { all, ann, ben, first } = await twoChats()
  ann.dispatch(first, title('mine'), 1)
  const echo = await echoOn(ann, first, 1)
  expect(echo).toMatchObject({ action: title('mine'), origin: { clientId: 'ann', clientSeq: 1 } })
  expect(echo).not.toHaveProperty('rejectionReason')
  await ben.until(() => chatTitles(ben).get(first) === 'mine')
  expect(ben.state(session)['title']).toBe('mine')
  expect(chatTitles(ben).get(second)).toBe('')
  expect(await stored(all)).toEqual([{ channel: session, ...title('mine') }])
})

test('[H7] [H7.9] a rename on another chat renames this chat alone', async () => {
  const { all, ann, ben, first } = await twoChats()
  ann.dispatch(second, title('aside'), 1)
  await echoOn(ann, second, 1)
  await ben.until(() => chatTitles(ben).get(second) === 'aside')
  expect([ben.state(session)['title'], chatTitles(ben).get(first)]).toEqual(['', ''])
  const update = { type: 'session/chatUpdated', chat: second, changes: { title: 'aside' } }
  expect(await stored(all)).toEqual([{ channel: session, ...update }])
})

test('[H7] a rename that changes nothing is echoed and not stored; a malformed one is refused', async () => {
  const { all, ann, first } = await twoChats()
  ann.dispatch(first, title(''), 1)
  expect(await ann.echo(1)).not.toHaveProperty('rejectionReason')
  ann.dispatch(first, { type: 'session/titleChanged', title: 7 }, 2)
  expect(await ann.echo(2)).toMatchObject({ channel: first, rejectionReason: expect.stringMatching(/title/) })
  expect(await stored(all)).toEqual([])
})

for (const restarted of [false, true])
  test(`[H7] [L6] [H7.9] a rename that is sent again is echoed again, and later titles stay${restarted ? ', after a restart' : ''}`, async () => {
    const { all, ann, ben, first } = await twoChats()
    const { lastSeen } = ann
    ann.dispatch(first, title('old'), 1)
    ann.dispatch(second, title('old aside'), 2)
    await ben.until(() => chatTitles(ben).get(second) === 'old aside')
    ann.peer.close()
    ben.dispatch(session, title('new'), 1)
    ben.dispatch(second, title('new aside'), 2)
    await ben.until(() => chatTitles(ben).get(second) === 'new aside')
    if (restarted) await all.restart('close')
    const back = all.link()
    back.clientId = 'ann'
    back.lastSeen = lastSeen
    const channels = [session, first, second]
    await back.ask('reconnect', { clientId: 'ann', lastSeenServerSeq: lastSeen, subscriptions: channels })
    back.dispatch(first, title('old'), 1)
    back.dispatch(second, title('old aside'), 2)
    expect(await echoOn(back, first, 1)).not.toHaveProperty('rejectionReason')
    expect(await echoOn(back, second, 2)).not.toHaveProperty('rejectionReason')
    const checker = await all.join('eve', { subscribe: [session] })
    expect([checker.state(session)['title'], chatTitles(checker).get(second)]).toEqual(['new', 'new aside'])
  })
