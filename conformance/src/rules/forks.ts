import { randomUUID } from 'node:crypto'
import type { Uri } from '@atrium/protocol/channel'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { actionOf } from '../kit/action.ts'
import { Skipped, same } from '../kit/check.ts'
import type { Kit } from '../kit/kit.ts'
import { beginningWith } from '../kit/rule.ts'
import type { Topic } from '../kit/rule.ts'
import { openConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'

/**
 * Chats created from a turn of another chat. Each rule looks at such a chat with a new client, because other topics
 * judge the delivery of actions.
 */
export const forks: Topic = {
  name: 'forks',
  rules: [
    {
      id: 'K150',
      title: 'a fork has the named turn and all turns before it, and no later turn',
      source: 'createChat with a fork: the content of the source up to that turn and its response',
      run: beginningWith(forkable)(async (conversation, kit) => {
        const turns = [
          await conversation.runTurn(),
          await conversation.runTurn('Say goodbye in one short sentence.'),
        ]
        for (const [at, turnId] of turns.entries()) {
          const { turns: all } = await allTurnsAt(kit, await fork(kit, conversation, turnId))
          const source = await allTurnsAt(kit, conversation.chat)
          same('the turns of the fork', source.turns.slice(0, at + 1).map(contentOf), all.map(contentOf))
        }
      }),
    },
    {
      id: 'K151',
      title: 'a fork and its source are independent: truncating one leaves the other unchanged',
      source: 'createChat with a fork: the result is a separate chat',
      run: beginningWith(forkable)(async (conversation, kit) => {
        const turnId = await conversation.runTurn()
        const [first, second] = [await fork(kit, conversation, turnId), await fork(kit, conversation, turnId)]
        const has = async (chat: Uri) => (await chatAt(kit, chat)).turns.length > 0
        await conversation.client.subscribe(first)
        await conversation.client.mustAccept(first, truncateAll)
        same('whether the source has its turn', true, await has(conversation.chat))
        await conversation.mustAccept(truncateAll)
        same('whether the fork has its turn', true, await has(second))
      }),
    },
    {
      id: 'K152',
      title: 'the origin of a fork names its source chat and turn, in the chat and in the session',
      source: 'chats: the origin of a chat',
      run: beginningWith(forkable)(async (conversation, kit) => {
        const turnId = await conversation.runTurn()
        const origin = { kind: 'fork', chat: conversation.chat, turnId }
        const chat = await fork(kit, conversation, turnId)
        same('its origin', origin, (await chatAt(kit, chat)).origin)
        const { chats } = await stateAt<SessionState>(kit, conversation.session)
        same('its origin in the session', origin, chats.find(({ resource }) => resource === chat)?.origin)
      }),
    },
    {
      id: 'K153',
      title: 'a side chat starts empty, and its origin names the chat and turn it is about',
      source: 'createChat with a side chat; chats: the origin of a chat',
      async run(kit) {
        const conversation = await withMultipleChats(kit)
        if (!kit.facts.sideChats) throw new Skipped('this agent has no side chats')
        const selection = { text: 'hello' }
        const source = {
          kind: 'sideChat',
          chat: conversation.chat,
          turnId: await conversation.runTurn(),
          selection,
        }
        const chat = await createFrom(kit, conversation, source)
        const { turns, origin } = await chatAt(kit, chat)
        same('its turns', [], turns)
        same('its origin', source, origin)
      },
    },
    {
      id: 'K154',
      title: 'creating a chat from an unknown source, or with an unknown kind of source, is refused',
      source: 'createChat: its source is a turn of the same session; unknown kinds are rejected',
      run: beginningWith(forkable)(async (conversation, kit) => {
        const turnId = await conversation.runTurn()
        const foreign = await forkable(kit)
        const wrong = {
          'an unknown turn': { kind: 'fork', chat: conversation.chat, turnId: randomUUID() },
          'an unknown chat': { kind: 'fork', chat: kit.unusedChat(conversation.session), turnId },
          'a chat of another session': { kind: 'fork', chat: foreign.chat, turnId: await foreign.runTurn() },
          'an unknown kind of source': { kind: 'x-conformance', chat: conversation.chat, turnId },
        }
        const accepted: string[] = []
        for (const [what, source] of Object.entries(wrong)) {
          const params = { channel: conversation.session, chat: kit.unusedChat(conversation.session), source }
          const answer = await conversation.client.request('createChat', params)
          if ('result' in answer) accepted.push(what)
        }
        same('sources that are wrong but accepted', [], accepted)
      }),
    },
  ],
}

const truncateAll = actionOf('chat/truncated')

async function withMultipleChats(kit: Kit): Promise<Conversation> {
  if (!kit.facts.multipleChats) throw new Skipped('sessions of this agent have only one chat')
  return openConversation(kit)
}

async function forkable(kit: Kit): Promise<Conversation> {
  const conversation = await withMultipleChats(kit)
  if (!kit.facts.forks) throw new Skipped('this agent does not fork chats')
  return conversation
}

async function createFrom(kit: Kit, conversation: Conversation, source: object): Promise<Uri> {
  const chat = kit.unusedChat(conversation.session)
  await conversation.client.mustSucceed('createChat', { channel: conversation.session, chat, source })
  return chat
}

function fork(kit: Kit, conversation: Conversation, turnId: string): Promise<Uri> {
  return createFrom(kit, conversation, { kind: 'fork', chat: conversation.chat, turnId })
}

/** The content of a turn without ids, because a host may give the turns and parts of a fork ids of their own. */
function contentOf({ message, state, responseParts }: Turn): object {
  const parts = responseParts.map((part) => Object.entries(part).filter(([key]) => key !== 'id'))
  return { text: message.text, state, parts: parts.map((entries) => Object.fromEntries(entries) as object) }
}

/** The state in a new snapshot. `S` is the state type of the channel; its shape is not checked here. */
export async function stateAt<S>(kit: Kit, uri: Uri): Promise<S> {
  return (await (await kit.join()).subscribe(uri)).state as S
}

function chatAt(kit: Kit, uri: Uri): Promise<ChatState> {
  return stateAt<ChatState>(kit, uri)
}

/** The chat state with all of its turns. K140 judges a host that returns only some turns although all were asked for. */
async function allTurnsAt(kit: Kit, uri: Uri): Promise<ChatState> {
  const chat = await chatAt(kit, uri)
  if (chat.turnsNextCursor !== undefined) throw new Skipped('the host does not return all turns at once')
  return chat
}
