import { Activity } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import { session, untilIdle } from '../../../test/held-flushes.ts'
import { asks } from '../../../test/tool-call-actions.ts'
import { accepted, says, started, twoClientSession } from '../../../test/two-client-session.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const other = 'ahp-chat:/other'

test('[V17.1] session channel, Chat aggregation: at 0.4 the `summary` of a snapshot has the status of the session list', async () => {
  const all = await twoClientSession()
  await all.ann.ask('createChat', { channel: session, chat: other })
  await accepted(all.ann, other, started('t1'))
  await says(all, await all.agent.given(0), asks)
  await untilIdle()
  const older = new OlderClient(all, '0.4.0')
  await older.open([session])
  const listed = ((await older.ask('listSessions', {}))['items'] as readonly Value[])[0]
  expect(listed?.['status']).toBe(Activity.InputNeeded)
  expect((older.state(session)['summary'] as Value)['status']).toBe(Activity.InputNeeded)
})
