import { randomUUID } from 'node:crypto'
import type { Action, Envelope } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { promptText, talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'
import { waiting } from '../kit/waiting.ts'

/** Messages for later. Whether and when a host begins a turn with one is its own affair; which one it says it took is not. */
export const pending: Topic = {
  name: 'pending',
  rules: [
    {
      id: 'K210',
      title: 'messages wait in the order they came; one that is sent again keeps its place',
      source: 'chat/pendingMessageSet: the queue, by id',
      needs: 'session',
      async run(kit) {
        const { ann, ben, ids } = await queue(await waiting(kit))
        const [first = ''] = ids
        const again = await ben.client.change(ben.chat, queued(first, 'said better'))
        await ann.client.hears(again)
        const pick = (state: ChatState) => state.queuedMessages ?? []
        for (const all of [pick(ann.state(again.serverSeq)), await ann.agreed('the queue', pick)]) {
          same('the queue', ids, idsOf({ queuedMessages: all }))
          same('what was sent again', 'said better', all[0]?.message.text)
        }
      },
    },
    {
      id: 'K211',
      title: 'a queue is put in order: those that are named first, the others behind them',
      source: 'chat/queuedMessagesReordered: ids that are not known count for nothing',
      needs: 'session',
      async run(kit) {
        const { ann, ids } = await queue(await waiting(kit))
        const [a = '', b = '', c = ''] = ids
        const order = [c, randomUUID(), a]
        const wish = { type: 'chat/queuedMessagesReordered', order } as Action
        const { serverSeq } = await ann.client.change(ann.chat, wish)
        for (const found of [idsOf(ann.state(serverSeq)), await ann.agreed('the queue', idsOf)])
          same('the queue', [c, a, b], found)
      },
    },
    {
      id: 'K212',
      title: 'any client may take a message out of the queue',
      source: 'chat/pendingMessageRemoved',
      needs: 'session',
      async run(kit) {
        const { ann, ben, ids } = await queue(await waiting(kit))
        const [a = '', b = '', c = ''] = ids
        const wish = { type: 'chat/pendingMessageRemoved', kind: 'queued', id: b } as Action
        const gone = await ann.client.hears(await ben.client.change(ben.chat, wish))
        for (const found of [idsOf(ann.state(gone.serverSeq)), await ann.agreed('the queue', idsOf)])
          same('the queue', [a, c], found)
      },
    },
    {
      id: 'K213',
      title: 'one message steers a turn, and a later one takes its place',
      source: 'chat/pendingMessageSet: steering has one slot, beside the queue',
      needs: 'session',
      async run(kit) {
        const { ann, ben, ids } = await queue(await waiting(kit))
        const [first, second] = [randomUUID(), randomUUID()]
        await ann.client.change(ann.chat, steering(first))
        const { serverSeq } = await ben.client.change(ben.chat, steering(second))
        same('what steers', second, ben.state(serverSeq).steeringMessage?.id)
        same('the queue', ids, await ann.agreed('the queue', idsOf))
      },
    },
    {
      id: 'K214',
      title: 'what is said to steer a chat at rest is kept',
      source: 'chats: a steering message is stored where no turn runs',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const id = randomUUID()
        const { serverSeq } = await talk.client.change(talk.chat, steering(id))
        same('what steers', id, talk.state(serverSeq).steeringMessage?.id)
        await talk.agreed('what steers', (state) => state.steeringMessage?.id)
      },
    },
    {
      id: 'K215',
      title: 'a turn that is begun from the queue has a message of it, which waits no more',
      source: 'chat/turnStarted: queuedMessageId names what was waiting',
      needs: 'session',
      async run(kit) {
        const { talk, turnId, release } = await waiting(kit)
        const ids = [randomUUID(), randomUUID()]
        for (const id of ids) await talk.client.change(talk.chat, queued(id))
        await talk.client.change(talk.chat, release)
        await talk.ended(turnId)
        for (const count of [1, 2]) {
          const begun = await talk.client
            .until('a turn from the queue', () => fromQueue(talk).at(count - 1))
            .catch(() => {
              throw new Skipped('the host does not begin a turn with what waits')
            })
          await judge(talk, begun, ids)
        }
        const taken = fromQueue(talk).map(({ action }) => (action as Begun).queuedMessageId)
        same('which were taken', ids.toSorted(), taken.toSorted())
        same('the queue', [], await talk.agreed('the queue', idsOf))
      },
    },
  ],
}

type Begun = Action & { readonly queuedMessageId: string; readonly turnId: string }

/** Three messages behind a turn that waits. */
async function queue({
  talk: ann,
}: {
  talk: Talk
}): Promise<{ ann: Talk; ben: Talk; ids: readonly string[] }> {
  const ben = await ann.joined()
  const ids = [randomUUID(), randomUUID(), randomUUID()]
  for (const id of ids) await ann.client.change(ann.chat, queued(id))
  return { ann, ben, ids }
}

async function judge(talk: Talk, { action, serverSeq }: Envelope, ids: readonly string[]): Promise<void> {
  const { queuedMessageId: id, turnId } = action as Begun
  const [before, after] = [talk.state(serverSeq - 1), talk.state(serverSeq)]
  check(ids.includes(id), 'a message that waits', action)
  same('a turn that ran by then', undefined, before.activeTurn?.id)
  same('the message', promptText, after.activeTurn?.message.text)
  check(!idsOf(after).includes(id), `${id} not to wait any more`, idsOf(after))
  await talk.ended(turnId)
}

function fromQueue(talk: Talk): readonly Envelope[] {
  return talk.said().filter(({ action }) => action.type === 'chat/turnStarted' && 'queuedMessageId' in action)
}

function idsOf({ queuedMessages = [] }: Pick<ChatState, 'queuedMessages'>): readonly string[] {
  return queuedMessages.map(({ id }) => id)
}

function queued(id: string, text = promptText): Action {
  return { type: 'chat/pendingMessageSet', kind: 'queued', id, message: saying(text) } as Action
}

function steering(id: string): Action {
  return { type: 'chat/pendingMessageSet', kind: 'steering', id, message: saying(promptText) } as Action
}

function saying(text: string): object {
  return { text, origin: { kind: 'user' } }
}
