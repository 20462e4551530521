import type { Uri } from '@atrium/protocol/channel'
import { actionOf } from '../kit/action.ts'
import { Skipped, same } from '../kit/check.ts'
import { titleChanged } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import { fold } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import { inSession, inSharedSession } from '../kit/openings.ts'
import { inConversation } from '../kit/conversation.ts'

/** No host can accept this action, because a title must be a string. */
const invalid = titleChanged(7)

export const rejection: Topic = {
  name: 'rejection',
  rules: [
    {
      id: 'K70',
      title: 'an invalid action comes back to its dispatcher with a rejectionReason',
      source: 'validation: a rejection is an echo with a reason and the origin',
      run: inSession(async ({ session, client }) => {
        await client.subscribe(session)
        await client.mustReject(session, invalid)
      }),
    },
    {
      id: 'K71',
      title: 'a default chat that the session does not have is rejected',
      source: 'validation on the session channel',
      run: inSession(async ({ session, client }, kit) => {
        await client.subscribe(session)
        const defaultChat = kit.unusedChat(session)
        await client.mustReject(session, actionOf('session/defaultChatChanged', { defaultChat }))
      }),
    },
    {
      id: 'K72',
      title: 'a rejection is delivered to its dispatcher only',
      source: 'validation: a rejection is an echo; no other client sees the action',
      run: inSharedSession(async ({ session, ann, ben }) => {
        for (const client of [ann, ben]) await client.subscribe(session)
        await rejected(ann, session)
        await ben.receives(await ann.retitle(session))
        same(
          'rejections of another client',
          [],
          ben.envelopes.filter(({ rejectionReason }) => rejectionReason),
        )
      }),
    },
    {
      id: 'K73',
      title: 'a rejected action does not change the state',
      source: 'validation comes before reduction',
      run: inSharedSession(async ({ session, ann, ben }) => {
        await ann.subscribe(session)
        const { action } = await ann.retitle(session)
        await rejected(ann, session)
        const { title } = fold('session', await ben.subscribe(session), [])
        same('the title', action, titleChanged(title))
      }),
    },
    {
      id: 'K74',
      title: 'every dispatched action comes back exactly once, accepted or rejected',
      source: 'reconciliation: a client removes each pending action once',
      run: inSession(async ({ session, client }) => {
        await client.subscribe(session)
        const actions = [titleChanged('a'), invalid, titleChanged('b'), invalid, titleChanged('c')]
        const sent = actions.map((action) => client.dispatch(session, action))
        await Promise.all(sent.map((clientSeq) => client.outcome(clientSeq)))
        await client.retitle(session)
        same(
          'how often each came back',
          sent.map(() => 1),
          sent.map((seq) => client.outcomes(seq).length),
        )
      }),
    },
    {
      id: 'K75',
      title: 'an action for a channel that does not exist is ignored without a response',
      source: 'validation: unknown channels',
      run: inSession(async ({ session, client }, kit) => {
        await client.subscribe(session)
        const ignored = client.dispatch(kit.unusedUri(), titleChanged('unknown channel'))
        await client.retitle(session)
        same('responses', [], [...client.outcomes(ignored), ...client.unmatched])
      }),
    },
    {
      id: 'K76',
      title: 'cancelling a turn while no turn runs is rejected',
      source: 'validation on the chat channel',
      run: inConversation(async ({ client, chat }) => {
        await client.mustReject(chat, actionOf('chat/turnCancelled', { turnId: 'none', duration: 0 }))
      }),
    },
    {
      id: 'K77',
      title: 'confirming a tool call that is not pending is rejected',
      source: 'validation on the chat channel',
      run: inConversation(async ({ client, chat }) => {
        const answer = { turnId: 'none', toolCallId: 'none', approved: true, confirmed: 'user-action' }
        await client.mustReject(chat, actionOf('chat/toolCallConfirmed', { ...answer }))
      }),
    },
  ],
}

/** Dispatches an invalid action that must be rejected. K70 judges whether it is; the other rules need a rejection. */
async function rejected(client: Client, session: Uri): Promise<void> {
  const { rejectionReason } = await client.outcome(client.dispatch(session, invalid))
  if (rejectionReason === undefined) throw new Skipped('the host accepts an invalid action: see K70')
}
