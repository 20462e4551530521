import { randomUUID } from 'node:crypto'
import type { Action } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { inConversation } from '../kit/conversation.ts'
import type { Conversation } from '../kit/conversation.ts'

/**
 * Actions about turns that a host must reject if a client dispatches them. Each check also holds if a fast agent has
 * already ended the turn.
 */
export const guards: Topic = {
  name: 'guards',
  rules: [
    {
      id: 'K130',
      title: 'no turn starts while another is active',
      source: 'chats: one active turn, which must end; a reducer would replace it with the second',
      recommended: true,
      run: inConversation(async (conversation) => {
        const [first, second] = [conversation.dispatchTurn(), conversation.dispatchTurn()]
        const outcomes = [await conversation.turnOutcome(first), await conversation.turnOutcome(second)]
        if (outcomes.every(({ rejectionReason }) => rejectionReason)) await conversation.turnBegun(first)
        for (const { action, serverSeq } of conversation.accepted()) {
          const running = conversation.state(serverSeq - 1).activeTurn?.id
          const begins = action.type === 'chat/turnStarted'
          check(!begins || running === undefined, `no turn beside the active turn ${running}`, action)
        }
        if (outcomes.some(({ rejectionReason }) => rejectionReason)) return
        throw new Skipped('the first turn ended before the second could start')
      }),
    },
    {
      id: 'K131',
      title: 'a turn with the id of an earlier turn is rejected',
      source: 'chats: an id names one turn',
      recommended: true,
      run: inConversation(async (conversation) => {
        const turnId = await conversation.runTurn()
        conversation.dispatchTurn(turnId)
        const again = await conversation.turnOutcome(turnId, 1)
        check(Boolean(again.rejectionReason), 'a rejectionReason', again)
      }),
    },
    {
      id: 'K132',
      title: 'a message of a client is rejected unless its origin is user',
      source: 'messages: a client may send only the origin user',
      recommended: true,
      run: inConversation(async (conversation) => {
        const turnId = conversation.dispatchTurn(randomUUID(), 'agent')
        const { rejectionReason, action } = await conversation.turnOutcome(turnId)
        check(Boolean(rejectionReason), 'a rejectionReason', action)
        const message = { text: 'conformance', origin: { kind: 'tool' } }
        const pending = { type: 'chat/pendingMessageSet', kind: 'queued', id: randomUUID(), message }
        await conversation.mustReject(pending)
        await conversation.mustReject(actionOf('chat/draftChanged', { draft: message }))
      }),
    },
    {
      id: 'K133',
      title: 'cancelling a turn other than the active one is rejected, and the active turn continues',
      source: 'validation on the chat channel: an action names a turn that it applies to',
      run: inConversation(async (conversation) => {
        const turnId = conversation.dispatchTurn()
        await conversation.mustReject(actionOf('chat/turnCancelled', { turnId: randomUUID(), duration: 0 }))
        await conversation.turnBegun(turnId)
        const end = await conversation.turnEnd(turnId)
        check(end.action.type !== 'chat/turnCancelled', 'the turn to end without being cancelled', end)
      }),
    },
    {
      id: 'K134',
      title: 'confirming a tool call that the turn does not have is rejected',
      source: 'validation on the chat channel: only a pending call can be confirmed',
      run: inConversation(async (conversation) => {
        const turnId = conversation.dispatchTurn()
        const answer = { turnId, toolCallId: randomUUID(), approved: true, confirmed: 'user-action' }
        await conversation.mustReject(actionOf('chat/toolCallConfirmed', { ...answer }))
      }),
    },
    {
      id: 'K135',
      title: 'a client cannot dispatch output of the agent, nor complete or fail its turn',
      source: 'actions on the chat channel: the actions that a client may dispatch',
      recommended: true,
      run: inConversation(async (conversation) => {
        const turnId = conversation.dispatchTurn()
        const part = { kind: 'markdown', id: randomUUID(), content: 'not from the agent' }
        const error = { kind: 'error', error: { errorType: 'none', message: 'not from the agent' } }
        const inTurn: readonly (Action & { [key: string]: unknown })[] = [
          { type: 'chat/responsePart', part },
          { type: 'chat/delta', partId: part.id, content: part.content },
          { type: 'chat/usage', usage: { inputTokens: 1 } },
          { type: 'chat/error', part: error, duration: 0 },
          { type: 'chat/turnComplete', duration: 0 },
        ]
        for (const action of inTurn)
          await conversation.mustReject(actionOf(action.type, { ...action, turnId }))
        const activity = { type: 'chat/activityChanged', activity: 'not from the agent' }
        await conversation.mustReject(activity)
      }),
    },
    {
      id: 'K136',
      title: 'truncating a chat at an unknown turn changes nothing',
      source: 'chat/truncated: an unknown turn leaves the state unchanged',
      run: inConversation(async (conversation) => {
        await conversation.runTurn()
        await unchanged(conversation, actionOf('chat/truncated', { turnId: randomUUID() }))
      }),
    },
    {
      id: 'K137',
      title: 'resuming a turn that is not resumable changes nothing',
      source: 'chat/turnResume: only the last turn, and only after a resumable error',
      uses: ['chat/turnResume'],
      run: inConversation(async (conversation) => {
        const turnId = await conversation.runTurn()
        const last = conversation.state().turns.at(-1)?.responseParts.at(-1)
        const resumable = last?.kind === 'error' && (last as { resumable?: boolean }).resumable === true
        for (const named of resumable ? [randomUUID()] : [turnId, randomUUID()])
          await unchanged(conversation, actionOf('chat/turnResume', { turnId: named }))
      }),
    },
  ],
}

/** Dispatches an action that may be accepted or rejected. Checks that the turns stay the same in both cases. */
async function unchanged(conversation: Conversation, action: Action): Promise<void> {
  const before = turnsOf(conversation.state())
  await conversation.client.outcome(conversation.dispatch(action))
  same('the turns', before, turnsOf(conversation.state()))
  same('the turns in a snapshot', before, turnsOf(await conversation.freshState()))
}

function turnsOf({ turns, activeTurn }: ChatState): unknown {
  return { active: activeTurn?.id, ended: turns.map(({ id, state }) => ({ id, state })) }
}
