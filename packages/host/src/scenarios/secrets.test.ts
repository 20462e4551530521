import type { Uri } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import { toolCallStarted, call, mcp, result, running } from '../../test/tool-call-actions.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { chat, chatOf, message, session, started } from '../../test/one-client-session.ts'
import type { AgentAction } from '../ports/agent.ts'

const resources = Array.from({ length: 5 }, (_, n) => ({ resource: `https://r${n}.example` }))
const canary = 'c4n4ry'

/** Returns everything on the disk. */
async function kept({ store }: TestHost, uris: readonly Uri[]): Promise<string> {
  const { log, records } = store()
  const channels = await Promise.all(uris.map((uri) => log.load(uri)))
  return JSON.stringify([await records.list(''), channels, await log.read(uris, 0, Number.MAX_SAFE_INTEGER)])
}

function tapped(client: Client): string[] {
  const frames: string[] = []
  const { answerRequest } = client
  client.answerRequest = (method, params) => (
    frames.push(JSON.stringify([method, params])),
    answerRequest(method, params)
  )
  return frames
}

test('[J8] [S-31] tokens for five resources are in nothing that is stored, sent or reported', async () => {
  const agent = new ScriptedAgent({ resumes: true, protectedResources: resources.slice(0, 4) })
  const all = await testHost({ agents: [agent] })
  const ann = await all.join('ann', { subscribe: ['ahp-root://'] })
  const answers: unknown[] = []
  const give = async (client: Client, resource: string, more: object = {}) =>
    answers.push(
      await client
        .ask('authenticate', { resource, token: `${canary} ${resource}`, ...more })
        .catch((error: unknown) => [String(error), error]),
    )
  for (const { resource } of resources) await give(ann, resource, { expiresIn: 100 })
  await ann.ask('createSession', { channel: session, activeClient: { clientId: 'ann', tools: [] } })
  const others = [await all.join('ben'), await all.join('eve', { principal: 'eve' })]
  const asked = others.flatMap(tapped)
  for (const client of [ann, ...others])
    for (const channel of ['ahp-root://', session, chat]) await client.ask('subscribe', { channel })

  ann.dispatch(chat, started('t1'))
  const run = await agent.given()
  const auth = { resource: resources[4], reason: 'required' }
  run.say(toolCallStarted(mcp), running, { type: 'chat/toolCallAuthRequired', ...call, auth } as AgentAction)
  await ann.until(() => chatOf(ann).activeTurn?.responseParts.length === 1)
  await untilIdle()
  await give(ann, resources[4]?.resource ?? '')
  expect(resources.map(({ resource }) => run.chat.token(resource))).toEqual(
    resources.map(({ resource }) => `${canary} ${resource}`),
  )
  run.say({ type: 'chat/toolCallComplete', ...call, ...result(true) })
  // The exception of an agent is reported to the operator. The host itself never puts a token into a report.
  run.fail(new Error('the agent broke'))
  await ann.until(() => chatOf(ann).turns.length === 1)
  for (const more of [
    { token: [canary] },
    { expiresIn: canary },
    { scopes: canary },
    { channel: 7, x: canary },
  ])
    await give(ann, resources[0]?.resource ?? '', more)
  all.world.advance(100_000)
  ann.dispatch(chat, started('t2'))
  await ann.until(() => chatOf(ann).turns.length === 2)
  await ann
    .ask('createChat', { channel: session, chat: 'ahp-chat:/x', initialMessage: message('go') })
    .catch(() => {})
  await untilIdle()

  const uris = ['ahp-root://', session, chat]
  const before = await kept(all, uris)
  await all.restart('close')
  const dan = await all.join('dan', { subscribe: uris })
  const sent = [ann, ...others, dan].map(({ envelopes, notes, states }) => [envelopes, notes, [...states]])
  const reported = all.world.reports.map(({ event, detail }) => [event, String(detail), detail])
  expect(before).toContain('chat/toolCallAuthResolved')
  for (const text of [
    before,
    await kept(all, uris),
    ...[answers, asked, sent, reported].map((each) => JSON.stringify(each)),
  ])
    expect(text).not.toContain(canary)
  expect(JSON.stringify(process.env)).not.toContain(canary)
})
