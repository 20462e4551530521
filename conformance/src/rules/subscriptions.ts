import type { Snapshot, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { RootState } from '@atrium/protocol/root/state'
import { SessionState } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { check, checkShape, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { isSummaryOf } from '../kit/list.ts'
import type { Topic } from '../kit/rule.ts'
import { inSession, inSharedSession, withClient, withSession } from '../kit/openings.ts'
import { createInUse } from '../kit/session-in-use.ts'

export const subscriptions: Topic = {
  name: 'subscriptions',
  rules: [
    {
      id: 'K40',
      title: 'an initial subscription to the root returns a snapshot of the root',
      source: 'subscriptions: one snapshot for each initial channel that has a state',
      sessionless: true,
      async run(kit) {
        const client = await kit.connect()
        const { snapshots = [] } = await client.initialize({ initialSubscriptions: [rootUri] })
        same(
          'the snapshots',
          [rootUri],
          snapshots.map(({ resource }) => resource),
        )
        checkShape('a root state', RootState, snapshots[0]?.state)
      },
    },
    {
      id: 'K41',
      title: 'subscribing to the root returns a snapshot with a root state',
      source: 'subscriptions: the root always exists and has a state',
      sessionless: true,
      run: withClient(async (client) => {
        checkShape('a root state', RootState, (await client.subscribe(rootUri)).state)
      }),
    },
    {
      id: 'K42',
      title: 'subscribing to a channel that does not exist is refused as not found',
      source: 'errors: NotFound, or SessionNotFound for a session',
      sessionless: true,
      run: withClient(async (client, kit) => {
        const { NotFound, SessionNotFound } = errorCodes
        const session = kit.unusedUri()
        for (const channel of [session, kit.unusedChat(session)])
          await client.mustFail('subscribe', { channel }, NotFound, SessionNotFound)
      }),
    },
    {
      id: 'K43',
      title: 'subscribing to a session returns a snapshot with a session state',
      source: 'subscriptions, and the shape of a session state',
      run: inSession(async ({ session, client }) => {
        checkShape('a session state', SessionState, (await client.subscribe(session)).state)
      }),
    },
    {
      id: 'K44',
      title: 'a snapshot is followed by every later action of its channel, numbered above fromSeq',
      source: 'subscriptions: no gap between a snapshot and the actions after it',
      run: withSession(async (session, kit) => {
        const [early, late] = [await kit.join(), await kit.join()]
        await early.subscribe(session)
        await early.retitle(session)
        const { fromSeq } = await late.subscribe(session)
        await early.retitle(session)
        const last = await early.retitle(session)
        await late.receives(last)
        check(last.serverSeq > fromSeq, `a number above ${fromSeq}`, last)
        const later = early.seqsOf(session).filter((seq) => seq > fromSeq && seq <= last.serverSeq)
        same(`all above ${fromSeq}`, later, late.seqsOf(session).slice(0, later.length))
      }),
    },
    {
      id: 'K45',
      title: 'an action is delivered to the subscribers of its channel and to no other client',
      source: 'subscriptions: the recipients of an action',
      async run(kit) {
        const [session, marker] = [await kit.session(), await kit.session()]
        const [ann, ben] = [await kit.join(), await kit.join()]
        await ann.subscribe(session)
        for (const client of [ann, ben]) await client.subscribe(marker)
        await ann.retitle(session)
        await onlyMarker(ben, marker, ann)
      },
    },
    {
      id: 'K46',
      title: 'after unsubscribe no action of the channel is delivered',
      source: 'subscriptions: the effect of unsubscribe',
      async run(kit) {
        const [session, marker] = [await kit.session(), await kit.session()]
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [session, marker]) await client.subscribe(uri)
        await ben.receives(await ann.retitle(session))
        ben.notify('unsubscribe', { channel: session })
        // The host reads messages in order. Once this response is here, the host has read `unsubscribe` as well.
        await ben.mustSucceed('listSessions')
        const before = ben.seqsOf(session).length
        await ann.retitle(session)
        await ben.receives(await ann.retitle(marker))
        same('envelopes after unsubscribe', [], ben.seqsOf(session).slice(before))
      },
    },
    {
      id: 'K47',
      title: 'subscribing again returns the current state, and later actions follow',
      source: 'subscriptions: every subscribe returns a snapshot',
      run: inSharedSession(async ({ session, ann, ben }) => {
        for (const client of [ann, ben]) await client.subscribe(session)
        ben.notify('unsubscribe', { channel: session })
        await ben.mustSucceed('listSessions')
        const { action } = await ann.retitle(session)
        const { state } = await ben.subscribe(session)
        same('the title', titleOf(action), titleOf(state))
        await ben.receives(await ann.retitle(session))
      }),
    },
    {
      id: 'K48',
      title: 'an initial subscription to a session returns its snapshot, and later actions follow',
      source: 'subscriptions: initial subscriptions work like any other',
      run: withSession(async (session, kit) => {
        const [ann, ben] = [await kit.join(), await kit.connect()]
        await ann.subscribe(session)
        const { action } = await ann.retitle(session)
        const { snapshots = [] } = await ben.initialize({ initialSubscriptions: [session] })
        const found = snapshots.find(({ resource }) => resource === session)
        check(found !== undefined, `a snapshot of ${session}`, snapshots)
        same('the title', titleOf(action), titleOf(found.state))
        const next = await ben.receives(await ann.retitle(session))
        check(next.serverSeq > found.fromSeq, `a number above ${found.fromSeq}`, next)
      }),
    },
    {
      id: 'K49',
      title: 'notifications about sessions go to the subscribers of the root and to no other client',
      source: 'subscriptions since 0.2: the recipients of a notification',
      async run(kit) {
        const marker = await kit.session()
        const [ann, ben] = [await kit.join({ initialSubscriptions: [rootUri] }), await kit.join()]
        for (const client of [ann, ben]) await client.subscribe(marker)
        const session = await createInUse(kit, ann)
        await ann.receivesNotification('root/sessionAdded', isSummaryOf(session))
        await ben.receives(await ann.retitle(marker))
        const unsubscribed = ben.notifications.filter(({ params }) => params['channel'] === rootUri)
        same('notifications without a subscription', [], unsubscribed)
      },
    },
  ],
}

/**
 * Checks that a client gets no envelopes but those of `marker`. A host sends envelopes in the order of their numbers,
 * so no older envelope can come after the new title of `marker`.
 */
async function onlyMarker(client: Client, marker: Uri, by: Client): Promise<void> {
  await client.receives(await by.retitle(marker))
  const others = client.envelopes.filter(({ channel }) => channel !== marker)
  same('envelopes of channels without a subscription', [], others)
}

function titleOf(value: Snapshot['state']): unknown {
  return (value as { readonly title?: unknown }).title
}
