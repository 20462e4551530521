import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { ReconnectResult } from '@atrium/protocol/root/connection'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import { actionOf } from '../kit/action.ts'
import { Skipped, check, checkShape, same } from '../kit/check.ts'
import { titleChanged } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import { isSummaryOf } from '../kit/list.ts'
import { beginningWith } from '../kit/rule.ts'
import type { Topic } from '../kit/rule.ts'
import { createInUse } from '../kit/session-in-use.ts'

export const replay: Topic = {
  name: 'replay',
  rules: [
    {
      id: 'K60',
      title: 'a replay holds exactly the missed actions, in order',
      source: 'reconnect: the content of a replay',
      run: beginningWith(disconnected)(async ({ session, ann, ben, lastSeen }, kit) => {
        const last = await changeMeanwhile(ann, session)
        const back = await kit.connectAgain(ben)
        const actions = replayOf(await back.reconnect(lastSeen, [session]))
        const expected = ann.envelopes.filter(
          ({ serverSeq }) => serverSeq > lastSeen && serverSeq <= last.serverSeq,
        )
        same('the missed actions', expected, actions.slice(0, expected.length))
        check(inOrder(actions, lastSeen), `rising numbers above ${lastSeen}`, actions)
      }),
    },
    {
      id: 'K61',
      title: 'a client that reconnects ends with the same state as a client that stayed connected',
      source: 'reconnect: no action is lost or applied twice, by a replay or by a snapshot',
      run: beginningWith(disconnected)(async ({ session, ann, ben, lastSeen, starts }, kit) => {
        await changeMeanwhile(ann, session)
        const back = await kit.connectAgain(ben)
        const result = await back.reconnect(lastSeen, [session])
        const last = await back.receives(await ann.retitle(session))
        const start = result.type === 'snapshot' ? snapshotOf(result.snapshots, session) : starts.ben
        const replayed = result.type === 'replay' ? [...ben.envelopes, ...result.actions] : []
        const returned = fold('session', start, [...replayed, ...back.envelopes], last.serverSeq)
        const stayed = fold('session', starts.ann, ann.envelopes, last.serverSeq)
        sameState('session', 'the state of the client that stayed', stayed, returned)
      }),
    },
    {
      id: 'K62',
      title: 'a replay holds no action that the client has already seen',
      source: 'reconnect: only actions above lastSeenServerSeq are replayed',
      run: beginningWith(disconnected)(async ({ session, ann, ben }, kit) => {
        const last = await ann.retitle(session)
        const back = await kit.connectAgain(ben)
        // The replay need not be empty: the host may have appended more actions since the new title.
        const replayed = replayOf(await back.reconnect(last.serverSeq, [session]))
        same(
          'actions at or below lastSeenServerSeq',
          [],
          replayed.filter(({ serverSeq }) => serverSeq <= last.serverSeq),
        )
      }),
    },
    {
      id: 'K63',
      title: 'after reconnect the listed channels are subscribed, and no action is delivered twice',
      source: 'reconnect: the result holds all missed actions and restores the subscriptions',
      run: beginningWith(disconnected)(async ({ session, ann, ben, lastSeen }, kit) => {
        await changeMeanwhile(ann, session)
        const back = await kit.connectAgain(ben)
        const result = await back.reconnect(lastSeen, [session])
        const upTo = Math.max(lastSeen, ...numbersIn(result))
        await back.receives(await ann.retitle(session))
        check(inOrder(back.envelopes, upTo), `rising numbers above ${upTo}`, back.envelopes)
      }),
    },
    {
      id: 'K64',
      title: 'channels that no longer exist are reported as missing, and the others are restored',
      source: 'reconnect: the field missing; a result with snapshots leaves those channels out',
      run: beginningWith(disconnected)(async ({ session, ann, ben, lastSeen }, kit) => {
        const disposed = await kit.create(ann)
        await ann.mustSucceed('disposeSession', { channel: disposed })
        const never = kit.unusedUri()
        const back = await kit.connectAgain(ben)
        const result = await back.reconnect(lastSeen, [session, disposed, never])
        if (result.type === 'replay') same('missing', [disposed, never].toSorted(), result.missing.toSorted())
        else
          same(
            'snapshots',
            [session],
            result.snapshots.map(({ resource }) => resource),
          )
        await back.receives(await ann.retitle(session))
      }),
    },
    {
      id: 'K65',
      title: 'a lastSeenServerSeq that the host has never assigned is not answered with a replay',
      source: 'reconnect: a host that cannot know the missed actions sends snapshots',
      run: beginningWith(disconnected)(async ({ session, ann, ben }, kit) => {
        const last = await changeMeanwhile(ann, session)
        const back = await kit.connectAgain(ben)
        const params = { clientId: back.clientId, subscriptions: [session] }
        const answer = await back.request('reconnect', { ...params, lastSeenServerSeq: last.serverSeq + 1e9 })
        // An error is correct too, because it makes the client initialize again.
        if ('error' in answer) return
        const result = checkShape('a result of reconnect', ReconnectResult, answer.result)
        check(result.type === 'snapshot', 'snapshots', result)
        same(
          'the title',
          last.action,
          titleChanged(fold('session', snapshotOf(result.snapshots, session), []).title),
        )
      }),
    },
    {
      id: 'K66',
      title: 'an unknown client gets a result, or gets an error and may initialize on the same connection',
      source: 'reconnect: clients fall back to initialize after any error',
      sessionless: true,
      async run(kit) {
        const client = await kit.connect()
        const params = { clientId: client.clientId, lastSeenServerSeq: 1, subscriptions: [rootUri] }
        const answer = await client.request('reconnect', params)
        if ('error' in answer) await client.initialize()
        else checkShape('a result of reconnect', ReconnectResult, answer.result)
        await client.mustSucceed('listSessions')
      },
    },
    {
      id: 'K67',
      title: 'notifications are not replayed: what a client is told after reconnect is the present',
      source: 'reconnect: only actions are replayed; the client lists the sessions again',
      async run(kit) {
        const marker = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [rootUri, marker]) await client.subscribe(uri)
        const lastSeen = (await ben.receives(await ann.retitle(marker))).serverSeq
        ben.terminate()
        const [kept, gone] = [await createInUse(kit, ann), await createInUse(kit, ann)]
        for (const uri of [kept, gone]) await ann.receivesNotification('root/sessionAdded', isSummaryOf(uri))
        const { action } = await ann.retitle(kept)
        await ann.mustSucceed('disposeSession', { channel: gone })
        const back = await kit.connectAgain(ben)
        await back.reconnect(lastSeen, [rootUri, marker])
        await back.receives(await ann.retitle(marker))
        const added = back.notifications.filter(({ method }) => method === 'root/sessionAdded')
        const about = (uri: Uri) => added.filter(({ params }) => isSummaryOf(uri)(params))
        same('notifications that a session was added which is gone', [], about(gone))
        const titles = about(kept).map(({ params }) => (params['summary'] as SessionSummary).title)
        const { title } = action as Action & { readonly title?: string }
        same(
          'titles from before the reconnect',
          [],
          titles.filter((each) => each !== title),
        )
      },
    },
    {
      id: 'K68',
      title: 'a channel that reconnect does not list is no longer subscribed',
      source: 'reconnect: its list replaces the subscriptions',
      run: beginningWith(disconnected)(async ({ session, ann, ben, lastSeen }, kit) => {
        const marker = await kit.session()
        await ann.subscribe(marker)
        const back = await kit.connectAgain(ben)
        await back.reconnect(lastSeen, [])
        await back.subscribe(marker)
        await ann.retitle(session)
        await back.receives(await ann.retitle(marker))
        same('envelopes of the channel that was not listed', [], back.seqsOf(session))
      }),
    },
  ],
}

/** Two clients subscribe to a session and both receive its last action; then the connection of Ben is cut. */
async function disconnected(kit: Kit) {
  const session = await kit.session()
  const [ann, ben] = [await kit.join(), await kit.join()]
  const starts = { ann: await ann.subscribe(session), ben: await ben.subscribe(session) }
  const { serverSeq: lastSeen } = await ben.receives(await ann.retitle(session))
  ben.terminate()
  return { session, ann, ben, starts, lastSeen }
}

/** Makes several changes and returns the last one. A client that misses any of them ends with another state. */
async function changeMeanwhile(by: Client, session: Uri): Promise<Envelope> {
  await by.mustAccept(session, actionOf('session/isArchivedChanged', { isArchived: true }))
  await by.retitle(session)
  await by.mustAccept(session, actionOf('session/isReadChanged', { isRead: true }))
  return by.retitle(session)
}

function replayOf(result: ReconnectResult): readonly Envelope[] {
  if (result.type === 'replay') return result.actions
  throw new Skipped('the host answers reconnect with snapshots, which AHP allows')
}

function snapshotOf(snapshots: readonly Snapshot[], uri: Uri): Snapshot {
  const found = snapshots.find(({ resource }) => resource === uri)
  check(found !== undefined, `a snapshot of ${uri}`, snapshots)
  return found
}

function numbersIn(result: ReconnectResult): readonly number[] {
  return result.type === 'replay'
    ? result.actions.map(({ serverSeq }) => serverSeq)
    : result.snapshots.map(({ fromSeq }) => fromSeq)
}

function inOrder(envelopes: readonly Envelope[], above: number): boolean {
  const seqs = [above, ...envelopes.map(({ serverSeq }) => serverSeq)]
  return seqs.every((seq, n) => n === 0 || seq > (seqs[n - 1] ?? 0))
}
