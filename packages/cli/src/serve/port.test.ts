import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Listening } from '@atrium/adapters/server'
import { beforeEach, expect, test } from 'vitest'
import { findPort } from './port.ts'

let data = ''
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'atrium-port-'))
})
const remembered = () => readFileSync(join(data, 'port'), 'utf8')

/** Listens where it is told to unless that is taken; any is 50000. */
function listener(...taken: readonly number[]): (port: number) => Promise<Listening> {
  return async (port) => {
    if (taken.includes(port)) throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
    return { url: '', urls: [], port: port || 50_000, close: async () => {} }
  }
}

test('[D6] the default, then the one that was used last', async () => {
  const first = await findPort({ data }, listener())
  expect([first.listening.port, first.notes]).toEqual([7433, []])
  await findPort({ data, port: 9000 }, listener())
  expect((await findPort({ data }, listener())).listening.port).toBe(9000)
})

test('[D6] a default that is taken gives way, says so, and is remembered', async () => {
  const { listening, notes } = await findPort({ data }, listener(7433))
  expect([listening.port, notes]).toEqual([50_000, ['Port 7433 is taken; this is 50000.']])
  expect(remembered()).toBe('50000\n')
})

test('[D6] a port that was asked for and is taken is an error with the way out', async () => {
  await expect(findPort({ data, port: 7433 }, listener(7433))).rejects.toThrow(
    'Port 7433 is taken by another program; choose another with --port, or any free one with --port 0.',
  )
  await expect(findPort({ data, socket: '/x' }, listener(0))).rejects.toThrow(
    'choose another path with --socket',
  )
})

test('[D6] any port is not remembered, nor is one of a host that writes nothing', async () => {
  writeFileSync(join(data, 'port'), '8000\n')
  await findPort({ data, port: 0 }, listener())
  await findPort({ data, port: 9000, readOnly: true }, listener())
  expect(remembered()).toBe('8000\n')
})

test.each(['', '0', 'x', '65536', '-1', '7433; rm'])('[D6] %j is no port to remember', async (text) => {
  writeFileSync(join(data, 'port'), text)
  expect((await findPort({ data }, listener())).listening.port).toBe(7433)
})
