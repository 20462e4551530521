import { Envelope } from '@atrium/protocol/channel'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import { actionOf } from '../kit/action.ts'
import { checkAction } from '@atrium/protocol/kind'
import { rootUri } from '@atrium/protocol/uri'
import { sameJson } from '../json.ts'
import { check, checkShape, same } from '../kit/check.ts'
import { resultOf, titleChanged } from '../kit/client.ts'
import type { Client } from '../kit/client.ts'
import { inConversation } from '../kit/conversation.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import { inSession, inSharedSession, withClient, withSession } from '../kit/openings.ts'

/** Enough titles for a wrong order to show. */
const titles = Array.from({ length: 8 }, (_, n) => `title ${n}`)

const changes: readonly Action[] = [
  titleChanged('one'),
  actionOf('session/isReadChanged', { isRead: true }),
  actionOf('session/isArchivedChanged', { isArchived: true }),
  titleChanged('two'),
  actionOf('session/isReadChanged', { isRead: false }),
]

export const order: Topic = {
  name: 'order',
  rules: [
    {
      id: 'K50',
      title: 'serverSeq rises strictly on a connection, across all of its channels',
      source: 'actions: one order for the whole host',
      async run(kit) {
        const sessions = [await kit.session(), await kit.session()]
        const [ann, ben] = [await kit.join(), await kit.join()]
        for (const client of [ann, ben]) for (const uri of [...sessions, rootUri]) await client.subscribe(uri)
        const made = titles.flatMap((title) =>
          [ann, ben].map((client, n) =>
            client.outcome(client.dispatch(sessions[n] ?? '', titleChanged(title))),
          ),
        )
        for (const envelope of await Promise.all(made)) await ann.receives(envelope)
        const seqs = ann.envelopes.map(({ serverSeq }) => serverSeq)
        check(rising(seqs), 'rising numbers', seqs)
      },
    },
    {
      id: 'K51',
      title: 'the echo of an action carries the clientId and clientSeq of its dispatcher',
      source: 'actions: an echo names its origin',
      run: inSession(async ({ session, client }) => {
        await client.subscribe(session)
        const clientSeq = client.dispatch(session, titleChanged('mine'))
        const echo = await client.until('the action back', () =>
          client.envelopes.find(({ action }) => sameJson(action, titleChanged('mine'))),
        )
        same('its origin', { clientId: client.clientId, clientSeq }, echo.origin)
        same('its channel', session, echo.channel)
        same('its rejectionReason', undefined, echo.rejectionReason)
      }),
    },
    {
      id: 'K52',
      title: 'the echoes of a client come in the order of clientSeq',
      source: 'actions: a client removes its pending actions in order',
      run: inSession(async ({ session, client }) => {
        await client.subscribe(session)
        const sent = titles.map((title) => client.dispatch(session, titleChanged(title)))
        await Promise.all(sent.map((clientSeq) => client.outcome(clientSeq)))
        same('the order', sent, ownSeqs(client))
      }),
    },
    {
      id: 'K53',
      title: 'every subscriber receives the same envelope as the dispatcher',
      source: 'actions: number, origin and action are the same for all',
      run: inSharedSession(async ({ session, ann, ben }) => {
        for (const client of [ann, ben]) await client.subscribe(session)
        const echo = await ann.retitle(session)
        same('the envelope', echo, await ben.receives(echo))
      }),
    },
    {
      id: 'K54',
      title: 'session: a snapshot reduced with the actions after it equals a later snapshot',
      source: 'actions alone change a state, and every client reduces alike',
      run: withSession(async (session, kit) => {
        const [early, late] = [await kit.join(), await kit.join()]
        const before = await early.subscribe(session)
        for (const action of changes) await early.mustAccept(session, action)
        const after = await late.subscribe(session)
        await early.retitle(session)
        const folded = fold('session', before, early.envelopes, after.fromSeq)
        sameState('session', 'the folded state', folded, after.state)
      }),
    },
    {
      id: 'K55',
      title: 'root: a snapshot reduced with the actions after it equals a later snapshot',
      source: 'actions alone change a state, and every client reduces alike',
      async run(kit) {
        const [early, late] = [await kit.join(), await kit.join()]
        const before = await early.subscribe(rootUri)
        const session = await kit.create(early)
        const after = await late.subscribe(rootUri)
        await early.subscribe(session)
        // A host sends envelopes in the order of their numbers, so once this echo is here, the client has received
        // every earlier action.
        await early.retitle(session)
        const folded = fold('root', before, early.envelopes, after.fromSeq)
        sameState('root', 'the folded state', folded, after.state)
      },
    },
    {
      id: 'K56',
      title: 'two clients that dispatch concurrently end with the same state and the same order',
      source: 'reconciliation: the host decides the order',
      run: withSession(async (session, kit) => {
        const clients = [await kit.join(), await kit.join()]
        const starts = [await clients[0]?.subscribe(session), await clients[1]?.subscribe(session)]
        const made = titles.flatMap((title) =>
          clients.map((client, n) =>
            client.outcome(client.dispatch(session, titleChanged(`${title} of ${n}`))),
          ),
        )
        const last = (await Promise.all(made)).toSorted((a, b) => b.serverSeq - a.serverSeq)[0]
        const states = clients.map(async (client, n) => {
          if (last) await client.receives(last)
          return fold('session', starts[n] ?? { resource: '', state: {}, fromSeq: 0 }, client.envelopes)
        })
        const [ann, ben] = await Promise.all(states)
        sameState('session', 'the state of the other client', ann, ben)
        same('the order at the other client', dispatchedTo(clients[0]), dispatchedTo(clients[1]))
      }),
    },
    {
      id: 'K57',
      title: 'envelopes and their actions match their schemas; an absent field is absent and not null',
      source: 'the schemas of envelopes and of the actions on the root and on a session',
      async run(kit) {
        const client = await kit.join({ initialSubscriptions: [rootUri] })
        const session = await kit.create(client)
        await client.subscribe(session)
        for (const action of changes) await client.mustAccept(session, action)
        for (const envelope of client.envelopes) {
          checkShape('an envelope', Envelope, envelope)
          check(envelope.origin !== null && envelope.rejectionReason !== null, 'no null field', envelope)
          const kind = envelope.channel === rootUri ? kinds.root : kinds.session
          const checked = checkAction(kind, envelope.action)
          check(checked.ok, `the shape of ${envelope.action.type}`, envelope)
        }
      },
    },
    {
      id: 'K58',
      title: 'subscribe may be sent right after createSession, before its response',
      source: 'sessions: the two requests may be pipelined',
      run: withClient(async (client, kit) => {
        const channel = kit.unusedUri()
        const [, subscribed] = await Promise.all([
          kit.create(client, channel),
          client.request('subscribe', { channel }),
        ])
        same('the resource of the snapshot', channel, resultOf('subscribe', subscribed).snapshot?.resource)
      }),
    },
    {
      id: 'K59',
      title: 'a connection receives only actions and notifications that its version defines',
      source:
        'versions: the selected version holds for the whole connection; the prefix x- is for extensions',
      run: inConversation(async ({ client, session, chat }, kit) => {
        await client.subscribe(rootUri)
        for (const action of changes) await client.mustAccept(session, action)
        const draft = { text: 'conformance', origin: { kind: 'user' } }
        await client.mustAccept(chat, actionOf('chat/draftChanged', { draft }))
        const received = [
          ...client.envelopes.map(({ action }) => action.type),
          ...client.notifications.map(({ method }) => method),
        ]
        const unknown = received.filter((name) => !kit.defines(name) && !/(?:^|\/)x-/.test(name))
        same(`names that AHP ${kit.version} does not define`, [], [...new Set(unknown)])
      }),
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

/** The number and the origin of each envelope that a client received and that comes from a dispatch. */
function dispatchedTo(client: Client | undefined): readonly unknown[] {
  return (client?.envelopes ?? [])
    .filter(({ origin }) => origin)
    .map(({ serverSeq, origin }) => ({ serverSeq, origin }))
}
