import { randomUUID } from 'node:crypto'
import type { Action, Uri } from '@atrium/protocol/channel'
import { chatSummaryShape } from '@atrium/protocol/chat/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { chatUri } from '@atrium/protocol/uri'
import { Skipped, check, same } from '../kit/check.ts'
import type { Kit } from '../kit/kit.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'

export const chats: Topic = {
  name: 'chats',
  rules: [
    {
      id: 'K110',
      title: 'session/chatAdded comes before the answer to createChat',
      source: 'chats: createChat returns when the chat is in its session',
      needs: 'session',
      async run(kit) {
        const { talk, chat } = await second(kit)
        const added = talk.client
          .toldBeforeAnswer()
          .filter(({ action }) => action.type === 'session/chatAdded')
          .map(({ action }) => (action as Action & { summary: { resource: Uri } }).summary.resource)
        check(added.includes(chat), 'session/chatAdded, and then the answer', 'the answer first')
      },
    },
    {
      id: 'K111',
      title: 'a created chat has the URI that its client chose, and can be subscribed to',
      source: 'chats: the client names the chat in createChat',
      needs: 'session',
      async run(kit) {
        const { talk, chat } = await second(kit)
        const { state } = await talk.client.subscribe(chat)
        same('its resource', chat, (state as ChatState).resource)
      },
    },
    {
      id: 'K112',
      title: 'creating a chat under a URI in use is refused',
      source: 'chats: a URI names one chat; AHP has no code for it',
      needs: 'session',
      async run(kit) {
        const { talk, chat } = await second(kit)
        await talk.client.refused('createChat', { channel: talk.session, chat })
      },
    },
    {
      id: 'K113',
      title: 'creating a chat in a session that is not there is refused',
      source: 'chats: a chat belongs to a session; AHP has no code for it',
      needs: 'session',
      async run(kit) {
        const { client } = await several(kit)
        await client.refused('createChat', { channel: kit.unusedUri(), chat: chatUri(randomUUID()) })
      },
    },
    {
      id: 'K114',
      title: 'a disposed chat is removed from its session, and cannot be subscribed to',
      source: 'chats: disposeChat and session/chatRemoved; errors: not found',
      needs: 'session',
      async run(kit) {
        const { talk, chat } = await second(kit)
        const listed = () => talk.sessionState().chats.some(({ resource }) => resource === chat)
        await talk.client.until(`${chat} in the session`, () => listed() || undefined)
        await talk.client.must('disposeChat', { channel: chat })
        await talk.client.until(`${chat} out of the session`, () => !listed() || undefined)
        const { NotFound, SessionNotFound } = errorCodes
        await (await kit.join()).refused('subscribe', { channel: chat }, NotFound, SessionNotFound)
      },
    },
    {
      id: 'K115',
      title: 'session/chatUpdated does not repeat which chat it is',
      source: 'session/chatUpdated: resource is left out of its changes',
      needs: 'session',
      async run(kit) {
        const { client, chat } = await talkOf(kit)
        await client.change(chat, archived)
        const updates = () => client.envelopes.filter(({ action }) => action.type === 'session/chatUpdated')
        await client
          .until('session/chatUpdated', () => updates().at(0))
          .catch((error: Error) => {
            // That the list is as the chat says is another rule.
            throw new Skipped(error.message)
          })
        for (const { action } of updates())
          check(
            !('resource' in (action as Action & { changes: object }).changes),
            'changes without resource',
            action,
          )
      },
    },
    {
      id: 'K116',
      title: 'a chat is in its session as it says itself',
      source: 'chats: a summary in the list equals the fields that the chat has inlined',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        await talk.client.change(talk.chat, archived)
        const told = () => summaryOf(talk.sessionState(), talk.chat)?.status === talk.state().status
        await talk.client.until('the status of the chat in its session', () => told() || undefined)
        // What no action tells is only seen in snapshots.
        const late = await talk.joined()
        same('the chat', own(late.start.state as ChatState), summaryOf(late.sessionState(), talk.chat))
      },
    },
    {
      id: 'K117',
      title: 'a client may say that a chat is read, and that it is archived',
      source: 'chats since 1.0: chat/isReadChanged and chat/isArchivedChanged',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        for (const on of [true, false]) {
          await talk.client.change(talk.chat, { type: 'chat/isReadChanged', isRead: on } as Action)
          await talk.client.change(talk.chat, { type: 'chat/isArchivedChanged', isArchived: !on } as Action)
          const { status } = await talk.fresh()
          same('read', on, hasFlag(status, Flag.IsRead))
          same('archived', !on, hasFlag(status, Flag.IsArchived))
        }
      },
    },
    {
      id: 'K118',
      title: 'the draft of a chat is shared by all of its clients',
      source: 'chats: the draft is a part of the state',
      needs: 'session',
      async run(kit) {
        const ann = await talkOf(kit)
        const ben = await ann.joined()
        const draft = { text: `conformance ${randomUUID()}`, origin: { kind: 'user' } }
        await ben.client.hears(
          await ann.client.change(ann.chat, { type: 'chat/draftChanged', draft } as Action),
        )
        same('the draft', draft.text, ben.state().draft?.text)
        same('the draft in a snapshot', draft.text, (await ann.fresh()).draft?.text)
      },
    },
    {
      id: 'K119',
      title: 'an action for a chat that is not there is ignored without a word',
      source: 'validation on the chat channel: unknown chats',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const lost = client.dispatch(chatUri(randomUUID()), archived)
        await client.retitle(session)
        same('what came back', [], [...client.outcomes(lost), ...client.strays])
      },
    },
  ],
}

const archived = { type: 'chat/isArchivedChanged', isArchived: true } as Action

/** A session of an agent that has more than one chat. */
async function several(kit: Kit): Promise<Talk> {
  if (!kit.offer.severalChats) throw new Skipped('sessions of this agent have one chat')
  return talkOf(kit)
}

/** A second chat in a session, made by its client. */
async function second(kit: Kit): Promise<{ talk: Talk; chat: Uri }> {
  const talk = await several(kit)
  const chat = chatUri(randomUUID())
  await talk.client.must('createChat', { channel: talk.session, chat })
  return { talk, chat }
}

/** What a chat and its entry have in common; an empty activity is the only way to tell that there is none. */
function own(chat: { readonly [key: string]: unknown } | ChatState): object {
  const fields = Object.entries(chat).filter(([key]) => key in chatSummaryShape)
  return Object.fromEntries(fields.filter(([key, value]) => key !== 'activity' || value !== ''))
}

function summaryOf({ chats: all }: SessionState, chat: Uri): { readonly status?: number } | undefined {
  const found = all.find(({ resource }) => resource === chat)
  return found && own(found)
}
