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
const savedPort = () => readFileSync(join(data, 'port'), 'utf8')

/** A fake that listens on any port but the taken ones. Port 0 becomes 50000. */
function listener(...taken: readonly number[]): (port: number) => Promise<Listening> {
  return async (port) => {
    if (taken.includes(port)) throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' })
    const page = { pageUrl: undefined, pageLink: () => undefined }
    return { url: '', urls: [], port: port || 50_000, ...page, close: async () => {} }
  }
}

test('[D6] the default port, then the last used port', async () => {
  const first = await findPort({ data }, listener())
  expect([first.listening.port, first.notes]).toEqual([7433, []])
  await findPort({ data, port: 9000 }, listener())
  expect((await findPort({ data }, listener())).listening.port).toBe(9000)
})

test('[D6] another port replaces a taken default, with a note, and is saved', async () => {
  const { listening, notes } = await findPort({ data }, listener(7433))
  expect([listening.port, notes]).toEqual([50_000, ['Port 7433 is taken; this is 50000.']])
  expect(savedPort()).toBe('50000\n')
})

test('[D6] a configured port that is taken is an error with its remedy', async () => {
  await expect(findPort({ data, port: 7433 }, listener(7433))).rejects.toThrow(
    'Port 7433 is taken by another program; choose another with --port, or any free one with --port 0.',
  )
  await expect(findPort({ data, socket: '/x' }, listener(0))).rejects.toThrow(
    'choose another path with --socket',
  )
})

test('[D6] port 0 and the port of a read-only host are not saved', async () => {
  writeFileSync(join(data, 'port'), '8000\n')
  await findPort({ data, port: 0 }, listener())
  await findPort({ data, port: 9000, readOnly: true }, listener())
  expect(savedPort()).toBe('8000\n')
})

test.each(['', '0', 'x', '65536', '-1', '7433; rm'])(
  '[D6] an invalid saved port %j is ignored',
  async (text) => {
    writeFileSync(join(data, 'port'), text)
    expect((await findPort({ data }, listener())).listening.port).toBe(7433)
  },
)
