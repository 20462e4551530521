import type { Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same, excerpt } from '../kit/check.ts'
import { resultOf } from '../kit/client.ts'
import type { Kit } from '../kit/kit.ts'
import { beginningWith } from '../kit/rule.ts'
import type { Topic } from '../kit/rule.ts'
import { openConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'
import { stateAt } from './forks.ts'

/** The order of chats in a session, and moves between sessions. */
export const moves: Topic = {
  name: 'moves',
  uses: ['moveChat'],
  rules: [
    {
      id: 'K180',
      title: 'moveChat within a session puts the chat first, or after another chat',
      source: 'moveChat within a session; the host keeps the order of the chats',
      run: beginningWith(withTwoMoreChats)(async ({ conversation, chats }, kit) => {
        const [first = '', second = ''] = chats
        // Chats that the host itself may have added are left out.
        const ownChats = async () =>
          (await chatsOf(kit, conversation.session)).filter(
            (uri) => uri === conversation.chat || chats.includes(uri),
          )
        await move(conversation, second, { kind: 'session', session: conversation.session })
        same('the chats', [second, conversation.chat, first], await ownChats())
        await move(conversation, second, { kind: 'session', session: conversation.session, after: first })
        same('the chats', [conversation.chat, first, second], await ownChats())
        const { defaultChat } = await stateAt<SessionState>(kit, conversation.session)
        same('the default chat', conversation.chat, defaultChat)
      }),
    },
    {
      id: 'K181',
      title: 'a chat moved to another session is only there, with the same URI and the same state',
      source: 'moveChat to a session: URI, state and origin never change',
      run: beginningWith(withTwoMoreChats)(async ({ conversation, chats }, kit) => {
        const [chat = ''] = chats
        const session = (await openConversation(kit)).session
        const before = await stateAt<ChatState>(kit, chat)
        same('the answer', { session }, await moveIfAllowed(conversation, chat, { kind: 'session', session }))
        const lists = [await chatsOf(kit, conversation.session), await chatsOf(kit, session)]
        same(
          'whether the old and the new session list it',
          [false, true],
          lists.map((all) => all.includes(chat)),
        )
        same('its place', 0, lists[1]?.indexOf(chat))
        same('the chat', before, await stateAt<ChatState>(kit, chat))
      }),
    },
    {
      id: 'K182',
      title: 'a chat moved to a new session is there, and no longer in the old session',
      source: 'moveChat to a new session: the result is its URI',
      run: beginningWith(withTwoMoreChats)(async ({ conversation, chats }, kit) => {
        const [chat = ''] = chats
        const { session } = await moveIfAllowed(conversation, chat, { kind: 'newSession' })
        kit.disposeLater(session)
        check(session !== conversation.session, 'another session', session)
        const lists = [await chatsOf(kit, conversation.session), await chatsOf(kit, session)]
        same(
          'whether the old and the new session list it',
          [false, true],
          lists.map((all) => all.includes(chat)),
        )
      }),
    },
    {
      id: 'K183',
      title: 'moving the default chat of a session is refused',
      source: 'moveChat: the chats that are movable',
      run: beginningWith(withTwoMoreChats)(async ({ conversation }, kit) => {
        const destination = { kind: 'session', session: (await openConversation(kit)).session }
        await conversation.client.mustFail('moveChat', { channel: conversation.chat, destination })
        check(
          (await chatsOf(kit, conversation.session)).includes(conversation.chat),
          'the default chat in its session',
          'a list without it',
        )
      }),
    },
    {
      id: 'K184',
      title: 'moving a chat after itself, or after a chat of another session, is refused',
      source: 'moveChat: after names another chat of the destination',
      run: beginningWith(withTwoMoreChats)(async ({ conversation, chats }, kit) => {
        const [chat = ''] = chats
        const before = await chatsOf(kit, conversation.session)
        for (const after of [chat, kit.unusedChat(conversation.session)]) {
          const destination = { kind: 'session', session: conversation.session, after }
          await conversation.client.mustFail('moveChat', { channel: chat, destination })
        }
        same('the chats', before, await chatsOf(kit, conversation.session))
      }),
    },
    {
      id: 'K185',
      title: 'a client cannot dispatch the order of the chats',
      source: 'session/chatsReordered: only the host dispatches it',
      run: beginningWith(withTwoMoreChats)(async ({ conversation }, kit) => {
        const before = await chatsOf(kit, conversation.session)
        const action = actionOf('session/chatsReordered', { chats: before.toReversed() })
        await conversation.client.mustReject(conversation.session, action)
        same('the chats', before, await chatsOf(kit, conversation.session))
      }),
    },
  ],
}

/** A session with two chats beside the default chat. The rule is skipped if the host cannot move chats. */
async function withTwoMoreChats(kit: Kit): Promise<{ conversation: Conversation; chats: readonly Uri[] }> {
  if (!kit.facts.multipleChats) throw new Skipped('sessions of this agent have only one chat')
  const conversation = await openConversation(kit)
  const chats = [kit.unusedChat(conversation.session), kit.unusedChat(conversation.session)]
  for (const chat of chats)
    await conversation.client.mustSucceed('createChat', { channel: conversation.session, chat })
  const { movable } = await stateAt<ChatState>(kit, chats[0] ?? '')
  if (movable !== true) throw new Skipped('the host does not mark its chats as movable')
  const probe = await conversation.client.request('moveChat', {
    channel: kit.unusedChat(conversation.session),
    destination: { kind: 'newSession' },
  })
  if ('error' in probe && probe.error.code === errorCodes.MethodNotFound)
    throw new Skipped('the host does not serve moveChat')
  return { conversation, chats }
}

function move(
  conversation: Conversation,
  channel: Uri,
  destination: object,
): Promise<{ readonly session: Uri }> {
  return conversation.client.mustSucceed('moveChat', { channel, destination })
}

/** Moves a chat to another session. A refusal skips the rule: a host may keep a chat in its session. */
async function moveIfAllowed(
  conversation: Conversation,
  channel: Uri,
  destination: object,
): Promise<{ readonly session: Uri }> {
  const answer = await conversation.client.request('moveChat', { channel, destination })
  if ('error' in answer) throw new Skipped(`the host refuses the move: ${excerpt(answer.error)}`)
  return resultOf('moveChat', answer)
}

async function chatsOf(kit: Kit, session: Uri): Promise<readonly Uri[]> {
  return (await stateAt<SessionState>(kit, session)).chats.map(({ resource }) => resource)
}
