import { expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

test('[U7] what the host asks is answered by what the app offers, and by nothing else', async () => {
  const host = new ScriptedHost()
  const offers = {
    resourceRead: ({ uri: asked }: { uri: string }) => {
      if (asked === 'mine:/broken') throw new Error('a secret of the app')
      return { data: `content of ${asked}`, encoding: 'utf-8' as const }
    },
  }
  const guest = new TestClient(host.open, { hostRequests: offers as never })
  guest.connect()
  await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [] })
  host.say({ id: 1, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  host.say({ id: 2, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/broken' } })
  host.say({ id: 3, method: 'resourceRead', params: { channel: 'ahp-root://' } })
  host.say({ id: 4, method: 'resourceWrite', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  await quiet()
  const answers = host.heard
    .filter((message) => message.method === undefined)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
  expect(answers).toMatchObject([
    { id: 1, result: { data: 'content of mine:/a' } },
    { id: 2, error: { code: -32603, message: 'internal error' } },
    { id: 3, error: { code: -32602 } },
    { id: 4, error: { code: -32601 } },
  ])
  expect(guest.problems).toEqual([{ kind: 'app', detail: 'a secret of the app' }])
})
