import { rootUri } from '@atrium/protocol/uri'
import { actionOf } from '../kit/action.ts'
import { same } from '../kit/check.ts'
import { titleChanged } from '../kit/client.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'
import { inSharedSession, withClient } from '../kit/openings.ts'

const unknownFields = { 'x-conformance': { deep: [1, 'two'] } }

export const unknown: Topic = {
  name: 'unknown',
  rules: [
    {
      id: 'K90',
      title: 'an unknown notification is ignored, and the connection stays open',
      source: 'versions: a peer ignores what it does not know',
      sessionless: true,
      run: withClient(async (client) => {
        for (const method of ['x-conformance/nothing', 'setClientManagedSettingsPermissions', 'constructor'])
          client.notify(method, unknownFields)
        await client.subscribe(rootUri)
        await client.mustSucceed('ping')
        same('responses', [], client.unmatched)
      }),
    },
    {
      id: 'K91',
      title: 'unknown fields and _meta in params are ignored',
      source: 'versions: additive fields; messages: every request may carry _meta',
      sessionless: true,
      async run(kit) {
        const more = { ...unknownFields, _meta: unknownFields }
        const client = await kit.join(more)
        await client.subscribe(rootUri, more)
        await client.mustSucceed('listSessions', more)
        await client.mustSucceed('ping', more)
      },
    },
    {
      id: 'K92',
      title: 'an action with an unknown field is accepted and applied',
      source: 'versions: additive fields',
      run: inSharedSession(async ({ session, ann, ben }) => {
        await ann.subscribe(session)
        await ann.mustAccept(session, { ...titleChanged('with more'), ...unknownFields })
        const { title } = fold('session', await ben.subscribe(session), [])
        same('the title', 'with more', title)
      }),
    },
    {
      id: 'K93',
      title: 'an action of an unknown type changes no state and closes no connection',
      source: 'actions: reducers ignore unknown types',
      run: inSharedSession(async ({ session, ann, ben }) => {
        const before = await ann.subscribe(session)
        ann.dispatch(session, actionOf('x-conformance/unknown', { activity: 'changed' }))
        await ann.retitle(session)
        const after = await ben.subscribe(session)
        await ann.retitle(session)
        // `fold` ignores the unknown action, so the states are equal only if the host ignored it too.
        const folded = fold('session', before, ann.envelopes, after.fromSeq)
        sameState('session', 'the state', folded, after.state)
      }),
    },
    {
      id: 'K94',
      title: 'null in an optional field counts as absent',
      source: 'wire format: readers treat null as absent',
      sessionless: true,
      async run(kit) {
        const client = await kit.join({ clientInfo: null, locale: null, capabilities: null })
        await client.subscribe(rootUri, { view: null, delivery: null })
        await client.mustSucceed('listSessions', { limit: null, cursor: null })
      },
    },
    {
      id: 'K95',
      title: 'a request to the connection without a channel gets a response: a result or an error',
      source: 'messages: one response to each request; clients in use leave channel out',
      sessionless: true,
      run: withClient(async (client) => {
        for (const method of ['ping', 'listSessions', 'reconnect'])
          await client.request(method, { channel: undefined })
        await client.mustSucceed('ping')
      }),
    },
  ],
}
