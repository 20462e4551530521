import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf, say, sessionOf } from '../../test/client.ts'
import { HostProcess } from '../../test/host-process.ts'
import { findTarget, findSession, shortNames } from './find.ts'

let host: HostProcess
let client: Client
beforeAll(async () => {
  host = await HostProcess.start(mkdtempSync(join(tmpdir(), 'atrium-names-')))
  client = clientOf(host)
  for (const name of ['alpine', 'alpine-hut', 'beta', 'gamma']) await sessionOf(client, name)
  await say(await sessionOf(client, 'delta'), 'say hi')
})
afterAll(() => {
  client.close()
  return host.kill()
})

const uriOf = async (name: string) => (await findSession(client, name)).resource

test('[Z4] a session is found by its URI, its name, the beginning of its name, or as `last`', async () => {
  expect(await uriOf('ahp-session:/beta')).toBe('ahp-session:/beta')
  expect(await uriOf('beta')).toBe('ahp-session:/beta')
  expect(await uriOf('g')).toBe('ahp-session:/gamma')
  // An exact name wins over a longer name that begins with it.
  expect(await uriOf('alpine')).toBe('ahp-session:/alpine')
  expect(await uriOf('last')).toBe('ahp-session:/delta')
})

test('[Z4.2] an ambiguous name exits with 2, an unknown or empty name with 4', async () => {
  await expect(uriOf('alp')).rejects.toMatchObject({
    exit: 2,
    message: expect.stringContaining('2 sessions'),
  })
  for (const name of ['nobody', '', 'eta', 'ahp-session:/bet', '__proto__'])
    await expect(uriOf(name)).rejects.toMatchObject({
      exit: 4,
      message: expect.stringContaining('atrium ls'),
    })
})

test('[Z4.1] [Z4.2] a chat is found the same way where no session has the name', async () => {
  const chat = 'ahp-chat:/side-by-side'
  await client.ask('createChat', { channel: 'ahp-session:/beta', chat })
  const target = {
    session: expect.objectContaining({ resource: 'ahp-session:/beta' }),
    chat,
    chatOnly: true,
  }
  expect(await findTarget(client, chat)).toEqual(target)
  expect(await findTarget(client, 'side')).toEqual(target)
  for (const name of ['twin-1', 'twin-2'])
    await client.ask('createChat', { channel: 'ahp-session:/beta', chat: `ahp-chat:/${name}` })
  await expect(findTarget(client, 'twin')).rejects.toMatchObject({ exit: 2 })
  expect(await findTarget(client, 'beta')).toMatchObject({
    chatOnly: false,
    chat: expect.stringContaining('default'),
  })
})

test('[Z4] a short name is long enough to be unique', () => {
  const names = ['session-1', 'session-2', 'long-and-alone', 'ab', 'a']
  const short = shortNames(names.map((name) => `ahp-session:/${name}`))
  expect(names.map((name) => short.get(`ahp-session:/${name}`))).toEqual([
    'session-1',
    'session-2',
    'long-and',
    'ab',
    'a',
  ])
})
