import type { Snapshot, Uri } from '@atrium/protocol/channel'
import { errorCodes } from '@atrium/protocol/errors'
import { RootState } from '@atrium/protocol/root/state'
import { SessionState } from '@atrium/protocol/session/state'
import { chatUri, rootUri } from '@atrium/protocol/uri'
import { check, fits, same } from '../kit/check.ts'
import type { Client } from '../kit/client.ts'
import { summarizes } from '../kit/list.ts'
import type { Topic } from '../kit/rule.ts'

export const subscriptions: Topic = {
  name: 'subscriptions',
  rules: [
    {
      id: 'K40',
      title: 'an initial subscription to the root comes back as its snapshot',
      source: 'subscriptions: one snapshot for each initial channel with a state',
      async run(kit) {
        const client = await kit.open()
        const { snapshots = [] } = await client.initialize({ initialSubscriptions: [rootUri] })
        same(
          'the snapshots',
          [rootUri],
          snapshots.map(({ resource }) => resource),
        )
        fits('a root state', RootState, snapshots[0]?.state)
      },
    },
    {
      id: 'K41',
      title: 'subscribing to the root gives a snapshot of a root state',
      source: 'subscriptions: the root is always there and has a state',
      async run(kit) {
        const client = await kit.join()
        fits('a root state', RootState, (await client.subscribe(rootUri)).state)
      },
    },
    {
      id: 'K42',
      title: 'subscribing to what is not there is refused as not found',
      source: 'errors: NotFound, or SessionNotFound where a session is named',
      async run(kit) {
        const client = await kit.join()
        const { NotFound, SessionNotFound } = errorCodes
        await client.refused('subscribe', { channel: kit.unusedUri() }, NotFound, SessionNotFound)
        await client.refused('subscribe', { channel: chatUri(client.clientId) }, NotFound, SessionNotFound)
      },
    },
    {
      id: 'K43',
      title: 'subscribing to a session gives a snapshot of a session state',
      source: 'subscriptions and the shape of a session',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        fits('a session state', SessionState, (await client.subscribe(session)).state)
      },
    },
    {
      id: 'K44',
      title: 'after a snapshot comes every later action of the channel, numbered above fromSeq',
      source: 'subscriptions: a snapshot and what follows it leave no gap',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [early, late] = [await kit.join(), await kit.join()]
        await early.subscribe(session)
        await early.retitle(session)
        const { fromSeq } = await late.subscribe(session)
        await early.retitle(session)
        const last = await early.retitle(session)
        await late.hears(last)
        check(last.serverSeq > fromSeq, `a number above ${fromSeq}`, last)
        const later = early.seqsOf(session).filter((seq) => seq > fromSeq && seq <= last.serverSeq)
        same(`all above ${fromSeq}`, later, late.seqsOf(session).slice(0, later.length))
      },
    },
    {
      id: 'K45',
      title: 'actions go to the subscribers of their channel and to nobody else',
      source: 'subscriptions: who is told of an action',
      needs: 'session',
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
      title: 'after unsubscribe nothing of the channel comes any more',
      source: 'subscriptions: what unsubscribe means',
      needs: 'session',
      async run(kit) {
        const [session, marker] = [await kit.session(), await kit.session()]
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [session, marker]) await client.subscribe(uri)
        await ben.hears(await ann.retitle(session))
        ben.notify('unsubscribe', { channel: session })
        // Requests are taken in order, so this one is answered after the host has read the notification.
        await ben.must('listSessions')
        const before = ben.seqsOf(session).length
        await ann.retitle(session)
        await ben.hears(await ann.retitle(marker))
        same('envelopes after unsubscribe', [], ben.seqsOf(session).slice(before))
      },
    },
    {
      id: 'K47',
      title: 'subscribing again gives the state as it is by then, and what follows',
      source: 'subscriptions: every subscribe is answered with a snapshot',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) await client.subscribe(session)
        ben.notify('unsubscribe', { channel: session })
        await ben.must('listSessions')
        const { action } = await ann.retitle(session)
        const { state } = await ben.subscribe(session)
        same('the title', titleOf(action), titleOf(state))
        await ben.hears(await ann.retitle(session))
      },
    },
    {
      id: 'K48',
      title: 'an initial subscription to a session gives its snapshot and what follows',
      source: 'subscriptions: initial ones are like any other',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.open()]
        await ann.subscribe(session)
        const { action } = await ann.retitle(session)
        const { snapshots = [] } = await ben.initialize({ initialSubscriptions: [session] })
        const found = snapshots.find(({ resource }) => resource === session)
        check(found !== undefined, `a snapshot of ${session}`, snapshots)
        same('the title', titleOf(action), titleOf(found.state))
        const next = await ben.hears(await ann.retitle(session))
        check(next.serverSeq > found.fromSeq, `a number above ${found.fromSeq}`, next)
      },
    },
    {
      id: 'K49',
      title: 'notifications about sessions go to the subscribers of the root and to nobody else',
      source: 'subscriptions since 0.2: who is told of a notification',
      needs: 'session',
      async run(kit) {
        const marker = await kit.session()
        const [ann, ben] = [await kit.join({ initialSubscriptions: [rootUri] }), await kit.join()]
        for (const client of [ann, ben]) await client.subscribe(marker)
        const session = await kit.inUse(ann)
        await ann.hearsNote('root/sessionAdded', summarizes(session))
        await ben.hears(await ann.retitle(marker))
        const uninvited = ben.notes.filter(({ params }) => params['channel'] === rootUri)
        same('notifications without a subscription', [], uninvited)
      },
    },
  ],
}

/** Numbers rise on a link: once the marker is there, nothing older will come. */
async function onlyMarker(client: Client, marker: Uri, by: Client): Promise<void> {
  await client.hears(await by.retitle(marker))
  const others = client.envelopes.filter(({ channel }) => channel !== marker)
  same('envelopes of channels that are not followed', [], others)
}

function titleOf(value: Snapshot['state']): unknown {
  return (value as { readonly title?: unknown }).title
}
