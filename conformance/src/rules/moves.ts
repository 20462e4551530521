import { randomUUID } from 'node:crypto'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import { Skipped, check, same, shown } from '../kit/check.ts'
import { resultOf } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'
import { stateAt } from './forks.ts'

/** The order of chats, and where they are. */
export const moves: Topic = {
  name: 'moves',
  rules: [
    {
      id: 'K180',
      title: 'a chat is moved to a place in its session: first, or behind another',
      source: 'moveChat within a session; the order of the chats is the host’s and lasts',
      needs: 'session',
      async run(kit) {
        const { talk, chats } = await several(kit)
        const [first = '', second = ''] = chats
        // A host may have put others there.
        const those = async () =>
          (await listed(kit, talk.session)).filter((uri) => uri === talk.chat || chats.includes(uri))
        await moved(talk, second, { kind: 'session', session: talk.session })
        same('the chats', [second, talk.chat, first], await those())
        await moved(talk, second, { kind: 'session', session: talk.session, after: first })
        same('the chats', [talk.chat, first, second], await those())
        const { defaultChat } = await stateAt<SessionState>(kit, talk.session)
        same('the default chat', talk.chat, defaultChat)
      },
    },
    {
      id: 'K181',
      title: 'a chat that moves to another session is there and nowhere else, under its URI and as it was',
      source: 'moveChat to a session: URIs, state and origin never change',
      needs: 'session',
      async run(kit) {
        const { talk, chats } = await several(kit)
        const [chat = ''] = chats
        const session = (await talkOf(kit)).session
        const before = await stateAt<ChatState>(kit, chat)
        same('the answer', { session }, await permitted(talk, chat, { kind: 'session', session }))
        const homes = [await listed(kit, talk.session), await listed(kit, session)]
        same(
          'which session lists it',
          [false, true],
          homes.map((all) => all.includes(chat)),
        )
        same('its place', 0, homes[1]?.indexOf(chat))
        same('the chat', before, await stateAt<ChatState>(kit, chat))
      },
    },
    {
      id: 'K182',
      title: 'a chat that moves to a new session is there, and not in the old one',
      source: 'moveChat to a new session: its URI is the answer',
      needs: 'session',
      async run(kit) {
        const { talk, chats } = await several(kit)
        const [chat = ''] = chats
        const { session } = await permitted(talk, chat, { kind: 'newSession' })
        kit.made(session)
        check(session !== talk.session, 'another session', session)
        const homes = [await listed(kit, talk.session), await listed(kit, session)]
        same(
          'which session lists it',
          [false, true],
          homes.map((all) => all.includes(chat)),
        )
      },
    },
    {
      id: 'K183',
      title: 'the default chat of a session is not moved',
      source: 'moveChat: which chats are movable',
      needs: 'session',
      async run(kit) {
        const { talk } = await several(kit)
        const destination = { kind: 'session', session: (await talkOf(kit)).session }
        await talk.client.refused('moveChat', { channel: talk.chat, destination })
        check(
          (await listed(kit, talk.session)).includes(talk.chat),
          'the default chat in its session',
          'none there',
        )
      },
    },
    {
      id: 'K184',
      title: 'a chat is not moved behind itself, nor behind what is not in that session',
      source: 'moveChat: the anchor is another chat of the destination',
      needs: 'session',
      async run(kit) {
        const { talk, chats } = await several(kit)
        const [chat = ''] = chats
        const before = await listed(kit, talk.session)
        for (const after of [chat, chatUri(randomUUID())]) {
          const destination = { kind: 'session', session: talk.session, after }
          await talk.client.refused('moveChat', { channel: chat, destination })
        }
        same('the chats', before, await listed(kit, talk.session))
      },
    },
    {
      id: 'K185',
      title: 'a client does not say the order of chats itself',
      source: 'session/chatsReordered is said by the host alone',
      needs: 'session',
      async run(kit) {
        const { talk } = await several(kit)
        const before = await listed(kit, talk.session)
        const action = { type: 'session/chatsReordered', chats: before.toReversed() } as Action
        await talk.client.rejected(talk.session, action)
        same('the chats', before, await listed(kit, talk.session))
      },
    },
  ],
}

/** A session with two more chats than its default one, at a host that moves chats. */
async function several(kit: Kit): Promise<{ talk: Talk; chats: readonly Uri[] }> {
  if (!kit.offer.severalChats) throw new Skipped('sessions of this agent have one chat')
  const talk = await talkOf(kit)
  const chats = [chatUri(randomUUID()), chatUri(randomUUID())]
  for (const chat of chats) await talk.client.must('createChat', { channel: talk.session, chat })
  const { movable } = await stateAt<ChatState>(kit, chats[0] ?? '')
  if (movable !== true) throw new Skipped('the host does not call its chats movable')
  const asked = await talk.client.ask('moveChat', {
    channel: chatUri(randomUUID()),
    destination: { kind: 'newSession' },
  })
  if ('error' in asked && asked.error.code === errorCodes.MethodNotFound)
    throw new Skipped('the host does not serve moveChat')
  return { talk, chats }
}

function moved(talk: Talk, channel: Uri, destination: object): Promise<{ readonly session: Uri }> {
  return talk.client.must('moveChat', { channel, destination })
}

/** A host may have its reasons to keep a chat in its session. */
async function permitted(talk: Talk, channel: Uri, destination: object): Promise<{ readonly session: Uri }> {
  const answer = await talk.client.ask('moveChat', { channel, destination })
  if ('error' in answer) throw new Skipped(`the host refuses the move: ${shown(answer.error)}`)
  return resultOf('moveChat', answer)
}

async function listed(kit: Kit, session: Uri): Promise<readonly Uri[]> {
  return (await stateAt<SessionState>(kit, session)).chats.map(({ resource }) => resource)
}
