import { Envelope } from '@atrium/protocol/channel'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { checkAction } from '@atrium/protocol/kind'
import { rootUri } from '@atrium/protocol/uri'
import { sameJson } from '../json.ts'
import { check, fits, same } from '../kit/check.ts'
import { resultOf, titled } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'

/** Enough of them that a wrong order shows. */
const several = Array.from({ length: 8 }, (_, n) => `title ${n}`)

const changes: readonly Action[] = [
  titled('one'),
  { type: 'session/isReadChanged', isRead: true } as Action,
  { type: 'session/isArchivedChanged', isArchived: true } as Action,
  titled('two'),
  { type: 'session/isReadChanged', isRead: false } as Action,
]

export const order: Topic = {
  name: 'order',
  rules: [
    {
      id: 'K50',
      title: 'serverSeq rises strictly on a link, over all of its channels',
      source: 'actions: one order for the whole host',
      needs: 'session',
      async run(kit) {
        const sessions = [await kit.session(), await kit.session()]
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [...sessions, rootUri]) await client.subscribe(uri)
        const made = several.flatMap((title) =>
          [ann, ben].map((client, n) => client.outcome(client.dispatch(sessions[n] ?? '', titled(title)))),
        )
        for (const envelope of await Promise.all(made)) await ann.hears(envelope)
        const seqs = ann.envelopes.map(({ serverSeq }) => serverSeq)
        check(rising(seqs), 'numbers that rise', seqs)
      },
    },
    {
      id: 'K51',
      title: "a client's action comes back to it with its own clientId and clientSeq",
      source: 'actions: an echo names its origin',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const clientSeq = client.dispatch(session, titled('mine'))
        const echo = await client.until('the action back', () =>
          client.envelopes.find(({ action }) => sameJson(action, titled('mine'))),
        )
        same('its origin', { clientId: client.clientId, clientSeq }, echo.origin)
        same('its channel', session, echo.channel)
        same('its rejectionReason', undefined, echo.rejectionReason)
      },
    },
    {
      id: 'K52',
      title: 'echoes come in the order of clientSeq',
      source: 'actions: a client takes its pending actions off in order',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.join()
        await client.subscribe(session)
        const sent = several.map((title) => client.dispatch(session, titled(title)))
        await Promise.all(sent.map((clientSeq) => client.outcome(clientSeq)))
        same('the order', sent, ownSeqs(client))
      },
    },
    {
      id: 'K53',
      title: 'everyone is told the same envelope as its dispatcher',
      source: 'actions: number, origin and action are the same for all',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) await client.subscribe(session)
        const echo = await ann.retitle(session)
        same('the envelope', echo, await ben.hears(echo))
      },
    },
    {
      id: 'K54',
      title: 'session: a snapshot and what follows give the state that a later subscriber gets',
      source: 'actions are the only change of a state, and everyone reduces alike',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [early, late] = [await kit.join(), await kit.join()]
        const before = await early.subscribe(session)
        for (const action of changes) await early.change(session, action)
        const after = await late.subscribe(session)
        await early.retitle(session)
        const folded = fold('session', before, early.envelopes, after.fromSeq)
        sameState('session', 'the folded state', folded, after.state)
      },
    },
    {
      id: 'K55',
      title: 'root: a snapshot and what follows give the state that a later subscriber gets',
      source: 'actions are the only change of a state, and everyone reduces alike',
      needs: 'session',
      async run(kit) {
        const [early, late] = [await kit.join(), await kit.join()]
        const before = await early.subscribe(rootUri)
        const session = await kit.create(early)
        const after = await late.subscribe(rootUri)
        await early.subscribe(session)
        // Numbers rise: with this one the early client has all that came before it.
        await early.retitle(session)
        const folded = fold('root', before, early.envelopes, after.fromSeq)
        sameState('root', 'the folded state', folded, after.state)
      },
    },
    {
      id: 'K56',
      title: 'two clients that write at once end with the same state, in the same order',
      source: 'reconciliation: the order of the host decides',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const clients = [await kit.join(), await kit.join()]
        const starts = [await clients[0]?.subscribe(session), await clients[1]?.subscribe(session)]
        const made = several.flatMap((title) =>
          clients.map((client, n) => client.outcome(client.dispatch(session, titled(`${title} of ${n}`)))),
        )
        const last = (await Promise.all(made)).toSorted((a, b) => b.serverSeq - a.serverSeq)[0]
        const states = clients.map(async (client, n) => {
          if (last) await client.hears(last)
          return fold('session', starts[n] ?? { resource: '', state: {}, fromSeq: 0 }, client.envelopes)
        })
        const [ann, ben] = await Promise.all(states)
        sameState('session', 'the state of the other', ann, ben)
        same('the order of the other', told(clients[0]), told(clients[1]))
      },
    },
    {
      id: 'K57',
      title: 'envelopes and their actions have their shapes; what is absent is absent, not null',
      source: 'the shape of an envelope, and of each action on the root and on a session',
      needs: 'session',
      async run(kit) {
        const client = await kit.join({ initialSubscriptions: [rootUri] })
        const session = await kit.create(client)
        await client.subscribe(session)
        for (const action of changes) await client.change(session, action)
        for (const envelope of client.envelopes) {
          fits('an envelope', Envelope, envelope)
          check(envelope.origin !== null && envelope.rejectionReason !== null, 'no null', envelope)
          const kind = envelope.channel === rootUri ? kinds.root : kinds.session
          const checked = checkAction(kind, envelope.action)
          check(checked.ok, `the shape of ${envelope.action.type}`, envelope)
        }
      },
    },
    {
      id: 'K58',
      title: 'subscribe may be sent behind createSession without waiting for its answer',
      source: 'sessions: the two may go back to back',
      needs: 'session',
      async run(kit) {
        const client = await kit.join()
        const channel = kit.unusedUri()
        const [, subscribed] = await Promise.all([
          kit.create(client, channel),
          client.ask('subscribe', { channel }),
        ])
        same('the snapshot of', channel, resultOf('subscribe', subscribed).snapshot?.resource)
      },
    },
  ],
}

function rising(numbers: readonly number[]): boolean {
  return numbers.every((number, n) => n === 0 || number > (numbers[n - 1] ?? 0))
}

function ownSeqs({ envelopes, clientId }: Client): readonly (number | undefined)[] {
  return envelopes
    .filter(({ origin }) => origin?.clientId === clientId)
    .map(({ origin }) => origin?.clientSeq)
}

/** What a client was told that somebody dispatched. */
function told(client: Client | undefined): readonly unknown[] {
  return (client?.envelopes ?? [])
    .filter(({ origin }) => origin)
    .map(({ serverSeq, origin }) => ({ serverSeq, origin }))
}
