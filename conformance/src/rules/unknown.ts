import type { Action } from '@atrium/protocol/channel'
import { rootUri } from '@atrium/protocol/uri'
import { same } from '../kit/check.ts'
import { titled } from '../kit/client.ts'
import { fold, sameState } from '../kit/fold.ts'
import type { Topic } from '../kit/rule.ts'

const unheardOf = { 'x-conformance': { deep: [1, 'two'] } }

export const unknown: Topic = {
  name: 'unknown',
  rules: [
    {
      id: 'K90',
      title: 'a notification that is not known is ignored, and the link lives on',
      source: 'versions: what a peer does not know it ignores',
      async run(kit) {
        const client = await kit.join()
        for (const method of ['x-conformance/nothing', 'setClientManagedSettingsPermissions', 'constructor'])
          client.notify(method, unheardOf)
        await client.subscribe(rootUri)
        await client.must('ping')
        same('answers', [], client.strays)
      },
    },
    {
      id: 'K91',
      title: 'unknown fields and _meta in params are ignored',
      source: 'versions: additive fields; messages: every request may carry _meta',
      async run(kit) {
        const more = { ...unheardOf, _meta: unheardOf }
        const client = await kit.join(more)
        await client.subscribe(rootUri, more)
        await client.must('listSessions', more)
        await client.must('ping', more)
      },
    },
    {
      id: 'K92',
      title: 'an action with a field that is not known is taken, and does what it does',
      source: 'versions: additive fields',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        await ann.subscribe(session)
        await ann.change(session, { ...titled('with more'), ...unheardOf } as Action)
        const { state } = await ben.subscribe(session)
        same('the title', 'with more', (state as { title: unknown }).title)
      },
    },
    {
      id: 'K93',
      title: 'an action type that is not known changes no state and ends no link',
      source: 'actions: reducers leave the state alone',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const [ann, ben] = [await kit.join(), await kit.join()]
        const before = await ann.subscribe(session)
        ann.dispatch(session, { type: 'x-conformance/unheardOf', activity: 'changed' } as Action)
        await ann.retitle(session)
        const after = await ben.subscribe(session)
        await ann.retitle(session)
        // The fold leaves it out, as every reducer must; so must the host.
        const folded = fold('session', before, ann.envelopes, after.fromSeq)
        sameState('session', 'the state', folded, after.state)
      },
    },
    {
      id: 'K94',
      title: 'null where a field may be absent is taken for absent',
      source: 'wire hygiene: how readers treat null',
      async run(kit) {
        const client = await kit.join({ clientInfo: null, locale: null, capabilities: null })
        await client.subscribe(rootUri, { view: null, delivery: null })
        await client.must('listSessions', { limit: null, cursor: null })
      },
    },
    {
      id: 'K95',
      title: 'a request to the connection without channel is answered, served or refused',
      source: 'messages: one response to each request; clients in the field leave channel out',
      async run(kit) {
        const client = await kit.join()
        for (const method of ['ping', 'listSessions', 'reconnect'])
          await client.ask(method, { channel: undefined })
        await client.must('ping')
      },
    },
  ],
}
