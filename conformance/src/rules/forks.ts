import { randomUUID } from 'node:crypto'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import { Skipped, same } from '../kit/check.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'

/** Chats that begin from a turn of another. Each is looked at by somebody who comes later: how it is told has rules of its own. */
export const forks: Topic = {
  name: 'forks',
  rules: [
    {
      id: 'K150',
      title: 'a fork has the turn that it names and all before it, and none after',
      source: 'createChat with a fork: the content of the source up to that turn and its response',
      needs: 'session',
      async run(kit) {
        const talk = await forkable(kit)
        const turns = [await talk.turn(), await talk.turn()]
        for (const [at, turnId] of turns.entries()) {
          const { turns: all } = await wholeAt(kit, await fork(talk, turnId))
          same(
            'the turns of the fork',
            turns.slice(0, at + 1),
            all.map(({ id }) => id),
          )
          const source = await wholeAt(kit, talk.chat)
          const named = source.turns.find(({ id }) => id === turnId)
          same('the turn that it names', named, all.at(-1))
        }
      },
    },
    {
      id: 'K151',
      title: 'a fork and its source are independent: what is cut off in one is still in the other',
      source: 'createChat with a fork: the result is a chat of its own',
      needs: 'session',
      async run(kit) {
        const talk = await forkable(kit)
        const turnId = await talk.turn()
        const [first, second] = [await fork(talk, turnId), await fork(talk, turnId)]
        const has = async (chat: Uri) => (await chatAt(kit, chat)).turns.some(({ id }) => id === turnId)
        await talk.client.subscribe(first)
        await talk.client.change(first, emptied)
        same('whether the source has its turn', true, await has(talk.chat))
        await talk.client.change(talk.chat, emptied)
        same('whether the fork has its turn', true, await has(second))
      },
    },
    {
      id: 'K152',
      title: 'a fork says from which turn of which chat it was made, in itself and in its session',
      source: 'chats: the origin of a chat',
      needs: 'session',
      async run(kit) {
        const talk = await forkable(kit)
        const turnId = await talk.turn()
        const origin = { kind: 'fork', chat: talk.chat, turnId }
        const chat = await fork(talk, turnId)
        same('its origin', origin, (await chatAt(kit, chat)).origin)
        const { chats } = await stateAt<SessionState>(kit, talk.session)
        same('its origin in the session', origin, chats.find(({ resource }) => resource === chat)?.origin)
      },
    },
    {
      id: 'K153',
      title: 'a side chat begins empty, and says where it was begun',
      source: 'createChat with a side chat; chats: the origin of a chat',
      needs: 'session',
      async run(kit) {
        const talk = await several(kit)
        if (!kit.offer.sideChats) throw new Skipped('this agent has no side chats')
        const selection = { text: 'hello' }
        const source = { kind: 'sideChat', chat: talk.chat, turnId: await talk.turn(), selection }
        const chat = await begun(talk, source)
        const { turns, origin } = await chatAt(kit, chat)
        same('its turns', [], turns)
        same('its origin', source, origin)
      },
    },
    {
      id: 'K154',
      title: 'beginning a chat from what is not there, or in a way that nobody knows, is refused',
      source: 'createChat: its source is a turn of the same session; unknown kinds are rejected',
      needs: 'session',
      async run(kit) {
        const talk = await forkable(kit)
        const turnId = await talk.turn()
        const foreign = await forkable(kit)
        const wrong = [
          { kind: 'fork', chat: talk.chat, turnId: randomUUID() },
          { kind: 'fork', chat: chatUri(randomUUID()), turnId },
          { kind: 'fork', chat: foreign.chat, turnId: await foreign.turn() },
          { kind: 'x-conformance', chat: talk.chat, turnId },
        ]
        for (const source of wrong)
          await talk.client.refused('createChat', {
            channel: talk.session,
            chat: chatUri(randomUUID()),
            source,
          })
      },
    },
  ],
}

const emptied = { type: 'chat/truncated' } as Action

async function several(kit: Kit): Promise<Talk> {
  if (!kit.offer.severalChats) throw new Skipped('sessions of this agent have one chat')
  return talkOf(kit)
}

async function forkable(kit: Kit): Promise<Talk> {
  const talk = await several(kit)
  if (!kit.offer.forks) throw new Skipped('this agent does not fork chats')
  return talk
}

async function begun(talk: Talk, source: object): Promise<Uri> {
  const chat = chatUri(randomUUID())
  await talk.client.must('createChat', { channel: talk.session, chat, source })
  return chat
}

function fork(talk: Talk, turnId: string): Promise<Uri> {
  return begun(talk, { kind: 'fork', chat: talk.chat, turnId })
}

/** As somebody sees it who comes now. */
export async function stateAt<S>(kit: Kit, uri: Uri): Promise<S> {
  return (await (await kit.join()).subscribe(uri)).state as S
}

function chatAt(kit: Kit, uri: Uri): Promise<ChatState> {
  return stateAt<ChatState>(kit, uri)
}

/** With all of its turns. That a host shows only some is the concern of another rule. */
async function wholeAt(kit: Kit, uri: Uri): Promise<ChatState> {
  const chat = await chatAt(kit, uri)
  if (chat.turnsNextCursor !== undefined) throw new Skipped('the host does not show all turns at once')
  return chat
}
