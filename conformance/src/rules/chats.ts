import { randomUUID } from 'node:crypto'
import type { Action, Uri } from '@atrium/protocol/channel'
import { chatSummaryShape } from '@atrium/protocol/chat/state'
import type { ChatState } from '@atrium/protocol/chat/state'
import { errorCodes } from '@atrium/protocol/errors'
import type { SessionState } from '@atrium/protocol/session/state'
import { Flag, hasFlag } from '@atrium/protocol/status'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import { fold } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import { beginningWith } from '../kit/rule.ts'
import type { Topic } from '../kit/rule.ts'
import { inSession } from '../kit/openings.ts'
import { inConversation, openConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'

export const chats: Topic = {
  name: 'chats',
  rules: [
    {
      id: 'K110',
      title: 'session/chatAdded comes before the response to createChat',
      source: 'chats: createChat returns after the chat is in its session',
      run: beginningWith(createSecond)(async ({ conversation, chat }) => {
        const added = conversation.client
          .envelopesBeforeResponse()
          .filter(({ action }) => action.type === 'session/chatAdded')
          .map(({ action }) => (action as Action & { summary: { resource: Uri } }).summary.resource)
        check(added.includes(chat), 'session/chatAdded before the response', 'the response first')
      }),
    },
    {
      id: 'K111',
      title: 'a created chat has the URI that the client chose, and can be subscribed to',
      source: 'chats: the client names the chat in createChat',
      run: beginningWith(createSecond)(async ({ conversation, chat }) => {
        const snapshot = await conversation.client.subscribe(chat)
        same('its resource', chat, fold('chat', snapshot, []).resource)
      }),
    },
    {
      id: 'K112',
      title: 'creating a chat under a URI in use is refused',
      source: 'chats: a URI names one chat; AHP defines no code for it',
      recommended: true,
      run: beginningWith(createSecond)(async ({ conversation, chat }) => {
        await conversation.client.mustFail('createChat', { channel: conversation.session, chat })
      }),
    },
    {
      id: 'K113',
      title: 'creating a chat in a session that does not exist is refused',
      source: 'chats: a chat belongs to a session; AHP defines no code for it',
      async run(kit) {
        const { client } = await withMultipleChats(kit)
        const channel = kit.unusedUri()
        await client.mustFail('createChat', { channel, chat: kit.unusedChat(channel) })
      },
    },
    {
      id: 'K114',
      title: 'a disposed chat is removed from its session and cannot be subscribed to',
      source: 'chats: disposeChat and session/chatRemoved; errors: not found',
      run: beginningWith(createSecond)(async ({ conversation, chat }, kit) => {
        const listed = () => conversation.sessionState().chats.some(({ resource }) => resource === chat)
        await conversation.client.until(`${chat} in the session`, () => listed() || undefined)
        await conversation.client.mustSucceed('disposeChat', { channel: chat })
        await conversation.client.until(`${chat} out of the session`, () => !listed() || undefined)
        const { NotFound, SessionNotFound } = errorCodes
        await (await kit.join()).mustFail('subscribe', { channel: chat }, NotFound, SessionNotFound)
      }),
    },
    {
      id: 'K115',
      title: 'session/chatUpdated does not repeat the URI of the chat in its changes',
      source: 'session/chatUpdated: resource is left out of the changes',
      run: inConversation(async (conversation, kit) => {
        const { client } = conversation
        await changeSummary(kit, conversation)
        const updates = () => client.envelopes.filter(({ action }) => action.type === 'session/chatUpdated')
        await client
          .until('session/chatUpdated', () => updates().at(0))
          .catch((error: Error) => {
            // K116 judges whether the summary changes at all; this rule only judges the content of an update.
            throw new Skipped(error.message)
          })
        for (const { action } of updates())
          check(
            !('resource' in (action as Action & { changes: object }).changes),
            'changes without resource',
            action,
          )
      }),
    },
    {
      id: 'K116',
      title: 'the summary of a chat in its session equals the fields of the chat itself',
      source: 'chats: a summary in the list equals the same fields in the chat state',
      run: inConversation(async (conversation, kit) => {
        await changeSummary(kit, conversation)
        const updated = () =>
          summaryOf(conversation.sessionState(), conversation.chat)?.status === conversation.state().status
        await conversation.client.until('the status of the chat in its session', () => updated() || undefined)
        // Derived fields change without an action, so only a snapshot shows them. A new client gets new snapshots.
        const late = await conversation.withNewClient()
        same('the chat', summaryFields(late.startState()), summaryOf(late.sessionState(), conversation.chat))
      }),
    },
    {
      id: 'K117',
      title: 'a client may mark a chat as read and as archived',
      source: 'chats since 1.0: chat/isReadChanged and chat/isArchivedChanged',
      uses: ['chat/isReadChanged', 'chat/isArchivedChanged'],
      run: inConversation(async (conversation) => {
        for (const on of [true, false]) {
          await conversation.mustAccept(actionOf('chat/isReadChanged', { isRead: on }))
          await conversation.mustAccept(actionOf('chat/isArchivedChanged', { isArchived: !on }))
          const { status } = await conversation.freshState()
          same('read', on, hasFlag(status, Flag.IsRead))
          same('archived', !on, hasFlag(status, Flag.IsArchived))
        }
      }),
    },
    {
      id: 'K118',
      title: 'the draft of a chat is shared by all of its clients',
      source: 'chats: the draft is part of the state',
      run: inConversation(async (ann) => {
        const ben = await ann.withNewClient()
        const draft = { text: `conformance ${randomUUID()}`, origin: { kind: 'user' } }
        await ben.client.receives(await ann.mustAccept(actionOf('chat/draftChanged', { draft })))
        same('the draft', draft.text, ben.state().draft?.text)
        same('the draft in a snapshot', draft.text, (await ann.freshState()).draft?.text)
      }),
    },
    {
      id: 'K119',
      title: 'an action for a chat that does not exist is ignored without a response',
      source: 'validation on the chat channel: unknown chats',
      run: inSession(async ({ session, client }, kit) => {
        await client.subscribe(session)
        const ignored = client.dispatch(kit.unusedChat(session), actionOf('chat/draftChanged'))
        await client.retitle(session)
        same('responses', [], [...client.outcomes(ignored), ...client.unmatched])
      }),
    },
  ],
}

/** Changes a field that a chat shares with its summary. Before 1.0 a client can do that only by a turn. */
async function changeSummary(kit: Kit, conversation: Conversation): Promise<void> {
  const archived = actionOf('chat/isArchivedChanged', { isArchived: true })
  if (kit.defines(archived.type)) await conversation.mustAccept(archived)
  else await conversation.runTurn()
}

/** Opens a conversation with an agent whose sessions may have several chats. */
async function withMultipleChats(kit: Kit): Promise<Conversation> {
  if (!kit.facts.multipleChats) throw new Skipped('sessions of this agent have only one chat')
  return openConversation(kit)
}

/** Creates a second chat in the session. */
async function createSecond(kit: Kit): Promise<{ conversation: Conversation; chat: Uri }> {
  const conversation = await withMultipleChats(kit)
  const chat = kit.unusedChat(conversation.session)
  await conversation.client.mustSucceed('createChat', { channel: conversation.session, chat })
  return { conversation, chat }
}

/** The fields that a chat and its summary have in common. An empty `activity` is left out, because it means the same as none. */
function summaryFields(chat: { readonly [key: string]: unknown } | ChatState): object {
  const fields = Object.entries(chat).filter(([key]) => key in chatSummaryShape)
  return Object.fromEntries(fields.filter(([key, value]) => key !== 'activity' || value !== ''))
}

function summaryOf({ chats: all }: SessionState, chat: Uri): { readonly status?: number } | undefined {
  const found = all.find(({ resource }) => resource === chat)
  return found && summaryFields(found)
}
