import { randomUUID } from 'node:crypto'
import type { Action } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { Skipped, check, same } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'
import type { Talk } from '../kit/talk.ts'

/** What a client may not do to turns. Each is judged so that it holds whether or not the turn is over by then. */
export const guards: Topic = {
  name: 'guards',
  rules: [
    {
      id: 'K130',
      title: 'no turn begins while another runs',
      source: 'chats: one active turn, which ends; reduced, a second one would take its place unended',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const [first, second] = [talk.prompt(), talk.prompt()]
        const fates = [await talk.fate(first), await talk.fate(second)]
        if (fates.every(({ rejectionReason }) => rejectionReason)) await talk.begun(first)
        for (const { action, serverSeq } of talk.said()) {
          const running = talk.state(serverSeq - 1).activeTurn?.id
          const begins = action.type === 'chat/turnStarted'
          check(!begins || running === undefined, `no turn beside ${running}`, action)
        }
        if (fates.some(({ rejectionReason }) => rejectionReason)) return
        throw new Skipped('the first turn was over before the second could begin')
      },
    },
    {
      id: 'K131',
      title: 'a turn with the id of an earlier one is rejected',
      source: 'chats: an id names one turn',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = await talk.turn()
        talk.prompt(turnId)
        const again = await talk.fate(turnId, 1)
        check(Boolean(again.rejectionReason), 'a rejectionReason', again)
      },
    },
    {
      id: 'K132',
      title: "a client's message that is not the user's is rejected",
      source: 'messages: of all origins a client may only send user',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = talk.prompt(randomUUID(), 'agent')
        const { rejectionReason, action } = await talk.fate(turnId)
        check(Boolean(rejectionReason), 'a rejectionReason', action)
        const message = { text: 'for nobody', origin: { kind: 'tool' } }
        const pending = { type: 'chat/pendingMessageSet', kind: 'queued', id: randomUUID(), message }
        await talk.client.rejected(talk.chat, pending as Action)
        await talk.client.rejected(talk.chat, { type: 'chat/draftChanged', draft: message } as Action)
      },
    },
    {
      id: 'K133',
      title: 'cancelling another turn than the one that runs is rejected, and that goes on',
      source: 'validation on the chat channel: an action names a turn that it can be about',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = talk.prompt()
        await talk.client.rejected(talk.chat, {
          type: 'chat/turnCancelled',
          turnId: randomUUID(),
          duration: 0,
        } as Action)
        await talk.begun(turnId)
        const end = await talk.ended(turnId)
        check(end.action.type !== 'chat/turnCancelled', 'the turn to end by itself', end)
      },
    },
    {
      id: 'K134',
      title: 'confirming a tool call that the turn does not have is rejected',
      source: 'validation on the chat channel: only a call that waits for it is confirmed',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = talk.prompt()
        const answer = { turnId, toolCallId: randomUUID(), approved: true, confirmed: 'user-action' }
        await talk.client.rejected(talk.chat, { type: 'chat/toolCallConfirmed', ...answer } as Action)
      },
    },
    {
      id: 'K135',
      title: 'a client does not speak for the agent, nor end its turn as complete or failed',
      source: 'actions on the chat channel: which of them a client may dispatch',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = talk.prompt()
        const part = { kind: 'markdown', id: randomUUID(), content: 'not from the agent' }
        const error = { kind: 'error', error: { errorType: 'none', message: 'not from the agent' } }
        const inTurn: readonly (Action & { [key: string]: unknown })[] = [
          { type: 'chat/responsePart', part },
          { type: 'chat/delta', partId: part.id, content: part.content },
          { type: 'chat/usage', usage: { inputTokens: 1 } },
          { type: 'chat/error', part: error, duration: 0 },
          { type: 'chat/turnComplete', duration: 0 },
        ]
        for (const action of inTurn) await talk.client.rejected(talk.chat, { ...action, turnId } as Action)
        const activity = { type: 'chat/activityChanged', activity: 'not from the agent' }
        await talk.client.rejected(talk.chat, activity as Action)
      },
    },
    {
      id: 'K136',
      title: 'cutting a chat off at a turn that it does not have changes nothing',
      source: 'chat/truncated: a turn that is not known leaves the state alone',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        await talk.turn()
        await unchanged(talk, { type: 'chat/truncated', turnId: randomUUID() } as Action)
      },
    },
    {
      id: 'K137',
      title: 'resuming what cannot be resumed changes nothing',
      source: 'chat/turnResume: only the last turn, and only after an error that allows it',
      needs: 'session',
      async run(kit) {
        const talk = await talkOf(kit)
        const turnId = await talk.turn()
        const last = talk.state().turns.at(-1)?.responseParts.at(-1)
        const resumable = last?.kind === 'error' && (last as { resumable?: boolean }).resumable === true
        for (const named of resumable ? [randomUUID()] : [turnId, randomUUID()])
          await unchanged(talk, { type: 'chat/turnResume', turnId: named } as Action)
      },
    },
  ],
}

/** Whether it is taken or rejected: the turns of the chat stay what they were. */
async function unchanged(talk: Talk, action: Action): Promise<void> {
  const before = turnsOf(talk.state())
  await talk.client.outcome(talk.dispatch(action))
  same('the turns', before, turnsOf(talk.state()))
  same('the turns in a snapshot', before, turnsOf(await talk.fresh()))
}

function turnsOf({ turns, activeTurn }: ChatState): unknown {
  return { active: activeTurn?.id, ended: turns.map(({ id, state }) => ({ id, state })) }
}
