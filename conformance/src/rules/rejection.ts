import type { Action } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { chatUri } from '@atrium/protocol/uri'
import { same } from '../kit/check.ts'
import { titled } from '../kit/client.ts'
import type { Topic } from '../kit/rule.ts'
import { talkOf } from '../kit/talk.ts'

/** No host can take this for a title. */
const invalid = titled(7)

export const rejection: Topic = {
  name: 'rejection',
  rules: [
    {
      id: 'K70',
      title: 'an invalid action comes back to its dispatcher with a rejectionReason',
      source: 'validation: what is refused is echoed with the reason and its own origin',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        await client.rejected(session, invalid)
      },
    },
    {
      id: 'K71',
      title: 'a default chat that the session does not have is rejected',
      source: 'validation on the session channel',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const defaultChat = chatUri(client.clientId)
        await client.rejected(session, { type: 'session/defaultChatChanged', defaultChat } as Action)
      },
    },
    {
      id: 'K72',
      title: 'a rejection is told to its dispatcher alone',
      source: 'validation: it is an echo, and for everybody else nothing has happened',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) await client.subscribe(session)
        await ann.rejected(session, invalid)
        await ben.hears(await ann.retitle(session))
        same(
          'rejections of others',
          [],
          ben.envelopes.filter(({ rejectionReason }) => rejectionReason),
        )
      },
    },
    {
      id: 'K73',
      title: 'a rejected action changes nothing',
      source: 'validation comes before the change',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        await ann.subscribe(session)
        const { action } = await ann.retitle(session)
        await ann.outcome(ann.dispatch(session, invalid))
        const { title } = (await ben.subscribe(session)).state as SessionState
        same('the title', action, titled(title))
      },
    },
    {
      id: 'K74',
      title: 'every dispatch comes back exactly once, accepted or rejected',
      source: 'reconciliation: a client takes each pending action off once',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const actions = [titled('a'), invalid, titled('b'), invalid, titled('c')]
        const sent = actions.map((action) => client.dispatch(session, action))
        const outcomes = await Promise.all(sent.map((clientSeq) => client.outcome(clientSeq)))
        const wanted = actions.map((action) => action === invalid)
        same(
          'which were rejected',
          wanted,
          outcomes.map(({ rejectionReason }) => rejectionReason !== undefined),
        )
        await client.retitle(session)
        same(
          'how often each came',
          sent.map(() => 1),
          sent.map((seq) => client.outcomes(seq).length),
        )
      },
    },
    {
      id: 'K75',
      title: 'an action for a channel that is not there is ignored without a word',
      source: 'validation: unknown channels',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const lost = client.dispatch(kit.unusedUri(), titled('for nobody'))
        await client.retitle(session)
        same('what came back', [], [...client.outcomes(lost), ...client.strays])
      },
    },
    {
      id: 'K76',
      title: 'cancelling where no turn runs is rejected',
      source: 'validation on the chat channel',
      needs: 'session',
      async run(kit) {
        const { client, chat } = await talkOf(kit)
        await client.rejected(chat, { type: 'chat/turnCancelled', turnId: 'none', duration: 0 } as Action)
      },
    },
    {
      id: 'K77',
      title: 'confirming a tool call that does not wait for it is rejected',
      source: 'validation on the chat channel',
      needs: 'session',
      async run(kit) {
        const { client, chat } = await talkOf(kit)
        const answer = { turnId: 'none', toolCallId: 'none', approved: true, confirmed: 'user-action' }
        await client.rejected(chat, { type: 'chat/toolCallConfirmed', ...answer } as Action)
      },
    },
  ],
}
