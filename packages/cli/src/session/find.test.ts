import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guestOf, say, sessionOf } from '../../test/guest.ts'
import { Life } from '../../test/life.ts'
import { findAddressee, findSession, shortNames } from './find.ts'

let life: Life
let client: Client
beforeAll(async () => {
  life = await Life.begin(mkdtempSync(join(tmpdir(), 'atrium-names-')))
  client = guestOf(life)
  for (const name of ['alpine', 'alpine-hut', 'beta', 'gamma']) await sessionOf(client, name)
  await say(await sessionOf(client, 'delta'), 'say hi')
})
afterAll(() => {
  client.close()
  return life.kill()
})

const uriOf = async (name: string) => (await findSession(client, name)).resource

test('[Z4] a session is meant by its URI, its name, the beginning of it, or as the last one', async () => {
  expect(await uriOf('ahp-session:/beta')).toBe('ahp-session:/beta')
  expect(await uriOf('beta')).toBe('ahp-session:/beta')
  expect(await uriOf('g')).toBe('ahp-session:/gamma')
  // A whole name is meant, also where another one begins with it.
  expect(await uriOf('alpine')).toBe('ahp-session:/alpine')
  expect(await uriOf('last')).toBe('ahp-session:/delta')
})

test('[Z4] what fits several is 2, what fits none is 4, and nothing at all is no name', async () => {
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

test('[Z4] a chat is meant likewise, where no session is called so', async () => {
  const chat = 'ahp-chat:/side-by-side'
  await client.ask('createChat', { channel: 'ahp-session:/beta', chat })
  const addressee = {
    session: expect.objectContaining({ resource: 'ahp-session:/beta' }),
    chat,
    narrow: true,
  }
  expect(await findAddressee(client, chat)).toEqual(addressee)
  expect(await findAddressee(client, 'side')).toEqual(addressee)
  expect(await findAddressee(client, 'beta')).toMatchObject({
    narrow: false,
    chat: expect.stringContaining('default'),
  })
})

test('[Z4] of each name so much is shown that it means no other', () => {
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
