import { memoryStore } from '@atrium/adapters/store/memory'
import { defaultChatUri, sessionOfDefaultChat } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import type { Core } from '../kernel/core.ts'
import { isGone, setGone, shortenGone } from './gone.ts'

const id = 'd1271803-cf60-453c-88bd-731a01540000'
const usual = `ahp-session:/${id}`
// Only the records are used.
const newCore = () => ({ records: memoryStore().records }) as unknown as Core

test('[L8] [L8.6] a used URI stays used, and no other URI counts as used', async () => {
  const odd = [
    'ahp-chat:/one',
    `${usual}/x`,
    'ahp-session:/D1271803-CF60-453C-88BD-731A01540000',
    'x:~y',
    'ü:/ü',
  ]
  for (const uri of [usual, ...odd]) {
    const core = newCore()
    setGone(core, uri)
    for (const other of [usual, ...odd, `ahp-chat:/${id}`, usual.replace('d', 'e')])
      expect([uri, other, await isGone(core, other)]).toEqual([uri, other, other === uri])
  }
})

test('[L8] [L8.6] the record of a session covers its default chat, and has a short key', async () => {
  const core = newCore()
  setGone(core, usual)
  expect(await isGone(core, defaultChatUri(usual))).toBe(true)
  expect(await isGone(core, defaultChatUri('ahp-session:/other'))).toBe(false)
  expect(await core.records.list('')).toEqual([['gone/ahp-session~0ScYA89gRTyIvXMaAVQAAA', '']])
  const chat = newCore()
  setGone(chat, defaultChatUri(usual))
  expect(await isGone(chat, usual)).toBe(false)
})

test('[L8] the records of an earlier build count, and are shortened once', async () => {
  const core = newCore()
  const uris = [usual, defaultChatUri(usual), defaultChatUri('s:/moved'), 'ahp-chat:/one']
  for (const uri of uris) core.records.put(`gone/${uri}`, '')
  for (const uri of uris) expect(await isGone(core, uri)).toBe(true)
  expect(await shortenGone(core)).toBe(2)
  for (const uri of uris) expect(await isGone(core, uri)).toBe(true)
  expect(await core.records.list('gone/')).toHaveLength(3)
  expect(await shortenGone(core)).toBe(0)
})

test('[P6] the session of a default chat is read from its URI', () => {
  for (const session of [usual, 's:/1', 'ünï:/𝒳'])
    expect(sessionOfDefaultChat(defaultChatUri(session))).toBe(session)
  for (const other of [
    'ahp-chat:/1',
    'ahp-chat://default/',
    'ahp-chat://default/!!',
    'ahp-chat://default/_w',
  ])
    expect(sessionOfDefaultChat(other)).toBeUndefined()
})
