import type { Action, Envelope } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import { promptText, inConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'

/** The course of a turn. No rule depends on what the agent answers, nor on whether the turn ends with an error. */
export const turns: Topic = {
  name: 'turns',
  rules: [
    {
      id: 'K120',
      title: 'a turn that a client starts is echoed with its origin and message, and is in the chat state',
      source: 'actions: an echo names its origin; chat/turnStarted',
      run: inConversation(async (conversation) => {
        const turnId = await conversation.beginTurn()
        const echo = await conversation.turnOutcome(turnId)
        same('the clientId of its origin', conversation.client.clientId, echo.origin?.clientId)
        const { activeTurn } = conversation.state(echo.serverSeq)
        same('the active turn', turnId, activeTurn?.id)
        same('its message', promptText, activeTurn?.message.text)
      }),
    },
    {
      id: 'K121',
      title: 'a turn ends exactly once, with a duration of at least 0',
      source: 'chats: chat/turnComplete, chat/turnCancelled or chat/error ends a turn and gives its duration',
      run: inConversation(async (conversation) => {
        const turnId = await conversation.beginTurn()
        const { action } = await conversation.requireTurnEnd(turnId)
        const { duration } = action as Action & { duration?: unknown }
        check(typeof duration === 'number' && duration >= 0, 'a duration of at least 0', action)
        await conversation.client.retitle(conversation.session)
        same('the number of ends', 1, conversation.turnEnds(turnId).length)
        const { activeTurn, turns: ended } = conversation.state()
        check(activeTurn?.id !== turnId, 'the turn to be inactive', activeTurn)
        same('how often it is in the chat', 1, ended.filter(({ id }) => id === turnId).length)
      }),
    },
    {
      id: 'K122',
      title: 'no action names a turn after its end',
      source: 'chats: an action of a turn names the active turn',
      run: inConversation(async (conversation) => {
        const turnId = await conversation.runTurn()
        await conversation.runTurn()
        same('actions after its end', [], actionsAfterEnd(conversation, turnId))
      }),
    },
    {
      id: 'K123',
      title: 'a response part is created before text is appended to it',
      source: 'chats: chat/responsePart comes before chat/delta and chat/reasoning',
      run: inConversation(async (conversation) => {
        await conversation.runTurn()
        const texts = conversation.accepted().filter(({ action }) => action.type in partKinds)
        if (texts.length === 0) throw new Skipped('the answer has no appended text')
        for (const { serverSeq, action } of texts) {
          const { type, partId } = action as Action & { partId: string }
          const { activeTurn } = conversation.state(serverSeq - 1)
          // K122 judges actions that name a turn which is not active.
          if (activeTurn?.id !== action.turnId) continue
          const found = activeTurn?.responseParts.find((part) => 'id' in part && part.id === partId)
          same(`the kind of the part that ${type} names`, partKinds[type], found?.kind)
        }
      }),
    },
    {
      id: 'K124',
      title: 'a cancelled turn has ended, and the next turn can start',
      source: 'chats: chat/turnCancelled ends the active turn',
      run: inConversation(async (conversation) => {
        const turnId = conversation.dispatchTurn()
        const cancel = conversation.dispatch(actionOf('chat/turnCancelled', { turnId, duration: 0 }))
        const { rejectionReason } = await conversation.client.outcome(cancel)
        if (rejectionReason) throw new Skipped('the turn ended before it could be cancelled')
        same('how it ended', 'cancelled', conversation.state().turns.at(-1)?.state)
        await conversation.runTurn()
        same('the number of ends', 1, conversation.turnEnds(turnId).length)
        same('actions after its end', [], actionsAfterEnd(conversation, turnId))
      }),
    },
    {
      id: 'K125',
      title: 'every action of a turn matches its schema',
      source: 'the schemas of the actions on a chat',
      run: inConversation(async (conversation) => {
        await conversation.runTurn()
        for (const { action } of conversation.accepted()) {
          const checked = checkAction(kinds.chat, action)
          check(checked.ok, `the shape of ${action.type}`, action)
        }
      }),
    },
    {
      id: 'K126',
      title: 'all clients receive the same turn and end with the state of a later snapshot',
      source: 'actions alone change a state, and every client reduces alike',
      run: inConversation(async (ann) => {
        const ben = await ann.withNewClient()
        const turnId = await ann.runTurn()
        await ben.turnEnd(turnId)
        const last = await ben.client.receives(await ann.client.retitle(ann.session))
        same('the envelopes of the other client', envelopesUpTo(ann, last), envelopesUpTo(ben, last))
        const late = await ann.withNewClient()
        sameState('chat', 'the folded state', ann.state(late.start.fromSeq), late.start.state)
      }),
    },
    {
      id: 'K127',
      title: 'a client that joins during a turn ends with the same state as a client that was there',
      source: 'subscriptions: no gap between a snapshot and the actions after it',
      run: inConversation(async (ann) => {
        const turnId = await ann.beginTurn()
        await someOutput(ann, turnId)
        const ben = await ann.withNewClient()
        await ann.turnEnd(turnId)
        const last = await ben.client.receives(await ann.client.retitle(ann.session))
        sameState(
          'chat',
          'the state of the first client',
          ann.state(last.serverSeq),
          ben.state(last.serverSeq),
        )
      }),
    },
    {
      id: 'K128',
      title: 'a client that reconnects during a turn ends with the same state as a client that stayed',
      source: 'reconnect: no action is lost or applied twice',
      run: inConversation(async (ann, kit) => {
        const ben = await ann.withNewClient()
        const turnId = await ann.beginTurn()
        await someOutput(ben, turnId)
        ben.client.terminate()
        // This action makes sure that Ben misses at least one action, even if the agent has already finished.
        const draft = { text: 'conformance', origin: { kind: 'user' } }
        await ann.mustAccept(actionOf('chat/draftChanged', { draft }))
        const seen = Math.max(ben.start.fromSeq, ...ben.client.envelopes.map(({ serverSeq }) => serverSeq))
        const back = await kit.connectAgain(ben.client)
        const result = await back.reconnect(seen, [ann.session, ann.chat])
        await ann.turnEnd(turnId)
        const last = await back.receives(await ann.client.retitle(ann.session))
        const snapshots = result.type === 'snapshot' ? result.snapshots : []
        const start = snapshots.find(({ resource }) => resource === ann.chat) ?? ben.start
        const replayed = result.type === 'replay' ? [...ben.client.envelopes, ...result.actions] : []
        const returned = fold(
          'chat',
          start,
          withoutDuplicates([...replayed, ...back.envelopes]),
          last.serverSeq,
        )
        sameState('chat', 'the state of the client that stayed', ann.state(last.serverSeq), returned)
      }),
    },
  ],
}

const partKinds: { readonly [type: string]: string } = {
  'chat/delta': 'markdown',
  'chat/reasoning': 'reasoning',
}

/**
 * Waits for the first action of the agent in the turn. Gives up without an error at the timeout, because an agent may
 * have no output.
 */
function someOutput(conversation: Conversation, turnId: string): Promise<unknown> {
  return conversation.client
    .until('an action of the turn', () => about(conversation, turnId).find(({ action }) => !isStart(action)))
    .catch(() => undefined)
}

function about(conversation: Conversation, turnId: string): readonly Envelope[] {
  return conversation.accepted().filter(({ action }) => action.turnId === turnId)
}

function isStart({ type }: Action): boolean {
  return type === 'chat/turnStarted'
}

/** The actions of a turn after its first end. Further ends of the turn are left out, because K121 counts them. */
function actionsAfterEnd(conversation: Conversation, turnId: string): readonly Envelope[] {
  const all = conversation.turnEnds(turnId)
  const end = all[0]?.serverSeq ?? Infinity
  return about(conversation, turnId).filter((envelope) => envelope.serverSeq > end && !all.includes(envelope))
}

/** The accepted envelopes up to `last`. Pieces of text are left out, because a host may merge several of them into one action. */
function envelopesUpTo(conversation: Conversation, { serverSeq: last }: Envelope): readonly Envelope[] {
  return conversation
    .accepted()
    .filter(({ serverSeq }) => serverSeq > conversation.start.fromSeq && serverSeq <= last)
    .filter(({ action }) => kinds.chat.classes.get(action.type) !== 'relaxed')
}

/** Sorts envelopes by number and removes duplicates, as a client does after a reconnect. */
function withoutDuplicates(envelopes: readonly Envelope[]): readonly Envelope[] {
  return [...new Map(envelopes.map((envelope) => [envelope.serverSeq, envelope])).values()].toSorted(
    (a, b) => a.serverSeq - b.serverSeq,
  )
}
