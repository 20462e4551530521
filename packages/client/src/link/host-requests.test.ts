import { expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

test('[U7] requests of the host are answered by functions of the app, and all others are refused', async () => {
  const host = new ScriptedHost()
  const hostRequests = {
    resourceRead: ({ uri: asked }: { uri: string }) => {
      if (asked === 'mine:/broken') throw new Error('a secret of the app')
      return { data: `content of ${asked}`, encoding: 'utf-8' as const }
    },
  }
  const client = new TestClient(host.open, { hostRequests: hostRequests as never })
  client.connect()
  await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [] })
  host.send({ id: 1, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  host.send({ id: 2, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/broken' } })
  host.send({ id: 3, method: 'resourceRead', params: { channel: 'ahp-root://' } })
  host.send({ id: 4, method: 'resourceWrite', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  await untilIdle()
  const answers = host.received
    .filter((message) => message.method === undefined)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
  expect(answers).toMatchObject([
    { id: 1, result: { data: 'content of mine:/a' } },
    { id: 2, error: { code: -32603, message: 'internal error' } },
    { id: 3, error: { code: -32602 } },
    { id: 4, error: { code: -32601 } },
  ])
  expect(client.problems).toEqual([{ kind: 'app', detail: 'a secret of the app' }])
})
