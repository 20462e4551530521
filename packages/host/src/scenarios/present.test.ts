import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'

let asked = 0
const curious = { _meta: { 'x-atrium': { clients: true } } }

/** Returns the connected clients as a new client sees them. */
async function presentClients(all: TestHost, given: object = curious, principal?: string): Promise<unknown> {
  const params = { protocolVersions: ['0.9.0'], clientId: `who-${++asked}`, ...given }
  const { _meta } = await all.link(principal).ask('initialize', params)
  return (_meta?.['x-atrium'] as { clients?: unknown } | undefined)?.clients
}

async function comes(all: TestHost, clientId: string, clientInfo: object) {
  const link = all.link()
  await link.ask('initialize', { protocolVersions: ['1.0.0'], clientId, clientInfo: clientInfo as never })
  return link
}

test('[H13] a client sees the other connected clients by their own names, and never by their ids', async () => {
  const all = await testHost()
  const editor = await comes(all, 'secret-id', { name: 'editor', title: 'An Editor', version: '7', more: 1 })
  expect(await presentClients(all, {})).toBeUndefined()
  const here = await presentClients(all)
  expect(here).toEqual([
    { name: 'editor', title: 'An Editor', version: '7', protocolVersion: '1.0.0' },
    { protocolVersion: '0.9.0' },
    { protocolVersion: '0.9.0' },
  ])
  expect(await presentClients(all, curious, 'somebody else')).toEqual([{ protocolVersion: '0.9.0' }])
  editor.peer.close()
  await editor.until(() => editor.peer.closed.aborted)
  expect(JSON.stringify(await presentClients(all))).not.toContain('editor')
})

test("[H13] a client's own name is known when it comes back, also after a restart", async () => {
  const all = await testHost()
  const editor = await comes(all, 'e', { name: 'editor' })
  await all.core().log.settled()
  await all.restart('crash')
  const again = all.link()
  await again.ask('reconnect', { clientId: 'e', lastSeenServerSeq: 0, subscriptions: [] })
  expect(await presentClients(all)).toContainEqual({ name: 'editor', protocolVersion: '1.0.0' })
  editor.peer.close()
})

test('[S-57 infoLength] at 100 a name is shown in full; [S-57 infoLength] past 100 it is cut', async () => {
  for (const length of [limits.infoLength, limits.infoLength + 1]) {
    const all = await testHost()
    await comes(all, 'long', { name: 'n'.repeat(length) })
    expect(await presentClients(all)).toMatchObject([{ name: 'n'.repeat(limits.infoLength) }, {}])
  }
})

test('[S-57 present] at 100 all are shown; [S-57 present] past 100 the newest are left out', async () => {
  const all = await testHost()
  for (let n = 1; n < limits.present; n++) await comes(all, `c${n}`, { name: `c${n}` })
  expect(await presentClients(all)).toHaveLength(limits.present)
  expect(await presentClients(all)).toHaveLength(limits.present)
})
