import { randomUUID } from 'node:crypto'
import type { Action, Envelope } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { promptText, inConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'
import { pendingTurn } from '../kit/pending-input.ts'

/** Queued and steering messages. A host decides whether and when to start a turn from the queue. */
export const pending: Topic = {
  name: 'pending',
  rules: [
    {
      id: 'K210',
      title: 'queued messages keep the order of arrival; a message that is set again keeps its place',
      source: 'chat/pendingMessageSet: the queue, by id',
      async run(kit) {
        const { ann, ben, ids } = await queueThree(await pendingTurn(kit))
        const [first = ''] = ids
        const again = await ben.mustAccept(queued(first, 'improved'))
        await ann.client.receives(again)
        const pick = (state: ChatState) => state.queuedMessages ?? []
        for (const all of [pick(ann.state(again.serverSeq)), await ann.sameInSnapshot('the queue', pick)]) {
          same('the queue', ids, idsOf({ queuedMessages: all }))
          same('the text that was set again', 'improved', all[0]?.message.text)
        }
      },
    },
    {
      id: 'K211',
      title: 'reordering puts the named messages first and the others after them',
      source: 'chat/queuedMessagesReordered: unknown ids are ignored',
      async run(kit) {
        const { ann, ids } = await queueThree(await pendingTurn(kit))
        const [a = '', b = '', c = ''] = ids
        const order = [c, randomUUID(), a]
        const action = actionOf('chat/queuedMessagesReordered', { order })
        const { serverSeq } = await ann.mustAccept(action)
        for (const found of [idsOf(ann.state(serverSeq)), await ann.sameInSnapshot('the queue', idsOf)])
          same('the queue', [c, a, b], found)
      },
    },
    {
      id: 'K212',
      title: 'any client may remove a message from the queue',
      source: 'chat/pendingMessageRemoved',
      async run(kit) {
        const { ann, ben, ids } = await queueThree(await pendingTurn(kit))
        const [a = '', b = '', c = ''] = ids
        const action = actionOf('chat/pendingMessageRemoved', { kind: 'queued', id: b })
        const gone = await ann.client.receives(await ben.mustAccept(action))
        for (const found of [idsOf(ann.state(gone.serverSeq)), await ann.sameInSnapshot('the queue', idsOf)])
          same('the queue', [a, c], found)
      },
    },
    {
      id: 'K213',
      title: 'a chat has one steering message, and a later one replaces it',
      source: 'chat/pendingMessageSet: steering has one slot beside the queue',
      async run(kit) {
        const { ann, ben, ids } = await queueThree(await pendingTurn(kit))
        const [first, second] = [randomUUID(), randomUUID()]
        await ann.mustAccept(steering(first))
        const { serverSeq } = await ben.mustAccept(steering(second))
        same('the steering message', second, ben.state(serverSeq).steeringMessage?.id)
        same('the queue', ids, await ann.sameInSnapshot('the queue', idsOf))
      },
    },
    {
      id: 'K214',
      title: 'a steering message is kept while no turn is active',
      source: 'chats: a steering message is stored without an active turn',
      run: inConversation(async (conversation) => {
        const id = randomUUID()
        const { serverSeq } = await conversation.mustAccept(steering(id))
        same('the steering message', id, conversation.state(serverSeq).steeringMessage?.id)
        await conversation.sameInSnapshot('the steering message', (state) => state.steeringMessage?.id)
      }),
    },
    {
      id: 'K215',
      title: 'a turn started from the queue has a queued message, which leaves the queue',
      source: 'chat/turnStarted: queuedMessageId names the queued message',
      async run(kit) {
        const { conversation, turnId, release } = await pendingTurn(kit)
        const ids = [randomUUID(), randomUUID()]
        for (const id of ids) await conversation.mustAccept(queued(id))
        await conversation.mustAccept(release)
        await conversation.turnEnd(turnId)
        for (const count of [1, 2]) {
          const started = await conversation.client
            .until('a turn from the queue', () => fromQueue(conversation).at(count - 1))
            .catch(() => {
              throw new Skipped('the host does not start a turn from the queue')
            })
          await checkQueuedTurn(conversation, started, ids)
        }
        const taken = fromQueue(conversation).map(
          ({ action }) => (action as StartedFromQueue).queuedMessageId,
        )
        same('the messages taken from the queue', ids.toSorted(), taken.toSorted())
        same('the queue', [], await conversation.sameInSnapshot('the queue', idsOf))
      },
    },
  ],
}

type StartedFromQueue = Action & { readonly queuedMessageId: string; readonly turnId: string }

/** Queues three messages behind a turn that waits for input. */
async function queueThree({
  conversation: ann,
}: {
  conversation: Conversation
}): Promise<{ ann: Conversation; ben: Conversation; ids: readonly string[] }> {
  const ben = await ann.withNewClient()
  const ids = [randomUUID(), randomUUID(), randomUUID()]
  for (const id of ids) await ann.mustAccept(queued(id))
  return { ann, ben, ids }
}

async function checkQueuedTurn(
  conversation: Conversation,
  { action, serverSeq }: Envelope,
  ids: readonly string[],
): Promise<void> {
  const { queuedMessageId: id, turnId } = action as StartedFromQueue
  const [before, after] = [conversation.state(serverSeq - 1), conversation.state(serverSeq)]
  check(ids.includes(id), 'a queued message', action)
  same('the active turn before it', undefined, before.activeTurn?.id)
  same('the message', promptText, after.activeTurn?.message.text)
  check(!idsOf(after).includes(id), `${id} to leave the queue`, idsOf(after))
  await conversation.turnEnd(turnId)
}

function fromQueue(conversation: Conversation): readonly Envelope[] {
  return conversation
    .accepted()
    .filter(({ action }) => action.type === 'chat/turnStarted' && 'queuedMessageId' in action)
}

function idsOf({ queuedMessages = [] }: Pick<ChatState, 'queuedMessages'>): readonly string[] {
  return queuedMessages.map(({ id }) => id)
}

function queued(id: string, text = promptText): Action {
  return actionOf('chat/pendingMessageSet', { kind: 'queued', id, message: userMessage(text) })
}

function steering(id: string): Action {
  return actionOf('chat/pendingMessageSet', { kind: 'steering', id, message: userMessage(promptText) })
}

function userMessage(text: string): object {
  return { text, origin: { kind: 'user' } }
}
