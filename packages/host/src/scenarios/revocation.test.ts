import { tokensOf } from '../parts/auth/tokens.ts'
import { expect, test } from 'vitest'
import { toolCallStarted, mcp, running, signIn } from '../../test/tool-call-actions.ts'
import { until } from '../../test/scripted-agent.ts'
import { chatOf, twoClientSession, turn } from '../../test/two-client-session.ts'

const resource = 'https://x.example'

test('[J7.3] [J7] a token for a call can be revoked also when nothing asks for it any more', async () => {
  const all = await twoClientSession()
  const { ann, core } = all
  const run = await turn(all, 't1', toolCallStarted(mcp), running, signIn)
  await ann.ask('authenticate', { resource, token: 'T' })
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(tokensOf(core()).of('owner', resource)).toBe('T')
  const eve = await all.join('eve', { principal: 'other' })
  const elsewhere = { code: -32602 }
  await expect(eve.ask('authenticate', { resource, token: '' })).rejects.toMatchObject(elsewhere)
  await expect(ann.ask('authenticate', { resource, token: 'U' })).rejects.toMatchObject(elsewhere)
  expect(tokensOf(core()).of('owner', resource)).toBe('T')
  expect(await ann.ask('authenticate', { resource, token: '' })).toEqual({})
  expect(tokensOf(core()).of('owner', resource)).toBeUndefined()
  await expect(ann.ask('authenticate', { resource, token: '' })).rejects.toMatchObject(elsewhere)
})
