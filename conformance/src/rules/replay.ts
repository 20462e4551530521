import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { ReconnectResult } from '@atrium/protocol/root/connection'
import { rootUri } from '@atrium/protocol/uri'
import { Skipped, check, fits, same } from '../kit/check.ts'
import { titled } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Kit } from '../kit/kit.ts'
import { summarizes } from '../kit/list.ts'
import type { Topic } from '../kit/rule.ts'

export const replay: Topic = {
  name: 'replay',
  rules: [
    {
      id: 'K60',
      title: 'a replay holds exactly what was missed, in order',
      source: 'reconnect: what is in a replay',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben, cutAt } = await away(kit)
        const last = await missed(ann, session)
        const back = await kit.again(ben)
        const actions = replayOf(await back.reconnect(cutAt, [session]))
        const expected = ann.envelopes.filter(
          ({ serverSeq }) => serverSeq > cutAt && serverSeq <= last.serverSeq,
        )
        same('what was missed', expected, actions.slice(0, expected.length))
        check(inOrder(actions, cutAt), `numbers that rise from above ${cutAt}`, actions)
      },
    },
    {
      id: 'K61',
      title: 'who comes back ends with the state of who stayed, by a replay or by a snapshot',
      source: 'reconnect: nothing is lost and nothing applied twice',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben, cutAt, starts } = await away(kit)
        await missed(ann, session)
        const back = await kit.again(ben)
        const result = await back.reconnect(cutAt, [session])
        const last = await back.hears(await ann.retitle(session))
        const start = result.type === 'snapshot' ? snapshotOf(result.snapshots, session) : starts.ben
        const replayed = result.type === 'replay' ? [...ben.envelopes, ...result.actions] : []
        const came = fold('session', start, [...replayed, ...back.envelopes], last.serverSeq)
        const stayed = fold('session', starts.ann, ann.envelopes, last.serverSeq)
        sameState('session', 'the state of who stayed', stayed, came)
      },
    },
    {
      id: 'K62',
      title: 'a replay holds nothing that was seen already',
      source: 'reconnect: only what lies above lastSeenServerSeq is replayed',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben } = await away(kit)
        const last = await ann.retitle(session)
        const back = await kit.again(ben)
        // A host may have said more since, by itself.
        const replayed = replayOf(await back.reconnect(last.serverSeq, [session]))
        same(
          'actions at or below the number seen',
          [],
          replayed.filter(({ serverSeq }) => serverSeq <= last.serverSeq),
        )
      },
    },
    {
      id: 'K63',
      title: 'after reconnect the listed channels go on without subscribing, and nothing comes twice',
      source: 'reconnect: all that was missed is in the answer, and the subscriptions are back',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben, cutAt } = await away(kit)
        await missed(ann, session)
        const back = await kit.again(ben)
        const result = await back.reconnect(cutAt, [session])
        const upTo = Math.max(cutAt, ...numbersIn(result))
        await back.hears(await ann.retitle(session))
        check(inOrder(back.envelopes, upTo), `numbers that rise from above ${upTo}`, back.envelopes)
      },
    },
    {
      id: 'K64',
      title: 'channels that are gone are reported missing, and the others come back',
      source: 'reconnect: what missing means; a snapshot form simply lacks them',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben, cutAt } = await away(kit)
        const gone = await kit.create(ann)
        await ann.must('disposeSession', { channel: gone })
        const never = kit.unusedUri()
        const back = await kit.again(ben)
        const result = await back.reconnect(cutAt, [session, gone, never])
        if (result.type === 'replay') same('missing', [gone, never].toSorted(), result.missing.toSorted())
        else
          same(
            'snapshots',
            [session],
            result.snapshots.map(({ resource }) => resource),
          )
        await back.hears(await ann.retitle(session))
      },
    },
    {
      id: 'K65',
      title: 'a number that the host has never given is not answered with a replay',
      source: 'reconnect: where the host cannot know what is missing it sends snapshots',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben } = await away(kit)
        const last = await missed(ann, session)
        const back = await kit.again(ben)
        const params = { clientId: back.clientId, subscriptions: [session] }
        const answer = await back.ask('reconnect', { ...params, lastSeenServerSeq: last.serverSeq + 1e9 })
        // An error sends every client back to initialize, which is as good.
        if ('error' in answer) return
        const result = fits('a result of reconnect', ReconnectResult, answer.result)
        check(result.type === 'snapshot', 'snapshots', result)
        same('the title', last.action, titled((snapshotOf(result.snapshots, session).state as Titled).title))
      },
    },
    {
      id: 'K66',
      title: 'an unknown client gets an error and may initialize on the same link, or gets a result',
      source: 'reconnect: clients fall back to initialize on any error',
      async run(kit) {
        const client = await kit.open()
        const params = { clientId: client.clientId, lastSeenServerSeq: 1, subscriptions: [rootUri] }
        const answer = await client.ask('reconnect', params)
        if ('error' in answer) await client.initialize()
        else fits('a result of reconnect', ReconnectResult, answer.result)
        await client.must('listSessions')
      },
    },
    {
      id: 'K67',
      title: 'notifications are not replayed',
      source: 'reconnect: only actions are; the client lists sessions again',
      needs: 'session',
      async run(kit) {
        const marker = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [rootUri, marker]) await client.subscribe(uri)
        const cutAt = (await ben.hears(await ann.retitle(marker))).serverSeq
        ben.cut()
        const session = await kit.inUse(ann)
        await ann.hearsNote('root/sessionAdded', summarizes(session))
        const back = await kit.again(ben)
        await back.reconnect(cutAt, [rootUri, marker])
        await back.hears(await ann.retitle(marker))
        const added = back.notes.filter((note) => note.method === 'root/sessionAdded')
        same(
          'notifications of what was missed',
          [],
          added.filter(({ params }) => summarizes(session)(params)),
        )
      },
    },
    {
      id: 'K68',
      title: 'channels that are not listed at reconnect are not followed any more',
      source: 'reconnect: its list is what the link follows',
      needs: 'session',
      async run(kit) {
        const { session, ann, ben, cutAt } = await away(kit)
        const marker = await kit.session()
        await ann.subscribe(marker)
        const back = await kit.again(ben)
        await back.reconnect(cutAt, [])
        await back.subscribe(marker)
        await ann.retitle(session)
        await back.hears(await ann.retitle(marker))
        same('envelopes of the channel that was left out', [], back.seqsOf(session))
      },
    },
  ],
}

type Titled = { readonly title?: unknown }

/** Ann and Ben follow a session, both have seen its last change, and Ben's link is cut. */
async function away(kit: Kit) {
  const session = await kit.session()
  const [ann, ben] = [await kit.join(), await kit.join()]
  const starts = { ann: await ann.subscribe(session), ben: await ben.subscribe(session) }
  const { serverSeq: cutAt } = await ben.hears(await ann.retitle(session))
  ben.cut()
  return { session, ann, ben, starts, cutAt }
}

/** Changes of which none can be left out without a trace; the last of them. */
async function missed(by: Client, session: Uri): Promise<Envelope> {
  await by.change(session, { type: 'session/isArchivedChanged', isArchived: true } as Action)
  await by.retitle(session)
  await by.change(session, { type: 'session/isReadChanged', isRead: true } as Action)
  return by.retitle(session)
}

function replayOf(result: ReconnectResult): readonly Envelope[] {
  if (result.type === 'replay') return result.actions
  throw new Skipped('the host answers reconnect with snapshots, which it always may')
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
