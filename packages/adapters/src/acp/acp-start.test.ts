import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../host/test/hostless-chat.ts'
import { manualTimers, scriptedAgent } from '../../test/acp.ts'
import { acpRoom, session, textOf } from '../../test/acp-room.ts'
import { until } from '../../test/shells.ts'

test('[N45.5] a slow start delays a new session only once and not for long, and a first turn starts no second process', async () => {
  const { later, pass, timers } = manualTimers()
  const { agent, lines, folder } = scriptedAgent({ quirks: ['opens-slowly', 'options'], later })
  const probed = agent.probe()
  await until(() => lines('started').length === 1 && [...timers].some(({ ms }) => ms === 120_000))
  pass(5000)
  await probed
  // The start goes on, and no timer runs for the next caller.
  const before = timers.size
  await agent.probe()
  expect([timers.size, agent.info.models]).toEqual([before, []])
  const turn = new HostlessChat(agent).begin('say hello').end()
  writeFileSync(join(folder, 'go'), '')
  expect(textOf(await turn)).toBe('hello')
  expect(lines('started')).toHaveLength(1)
  expect(agent.info.models).toHaveLength(2)
})

test('[N45.5] a start that fails while a first turn waits for it fails the turn, and is not tried twice', async () => {
  const { agent, lines } = scriptedAgent({ quirks: ['auth'] })
  const probing = agent.probe()
  const run = new HostlessChat(agent).begin('say hello')
  await Promise.all([probing, run.end()])
  expect(String(run.failure)).toContain('is not signed in')
  expect(lines('started')).toHaveLength(1)
})

test('[N45.3] the commands of an agent are offered before its first turn, and while its process sleeps', async () => {
  const room = await acpRoom({ quirks: ['early-commands'] })
  const names = async ({ agent }: typeof room.agent = room.agent) =>
    (await agent.commands(room.session)).map(({ name }) => name)
  await until(async () => (await names()).length > 0)
  expect(await names()).toEqual(['compact'])
  await room.turn('commands 2')
  expect(await names()).toEqual(['c0', 'c1'])
  room.agent.agent.release(session)
  expect(await names()).toEqual(['c0', 'c1'])
  // The next host knows them by the stored profile, without a start of the agent.
  const { profile } = room.agent.agent
  expect(await names(scriptedAgent({ ...(profile && { profile }) }))).toEqual(['c0', 'c1'])
  const elsewhere = { ...room.session, workingDirectories: ['file:///elsewhere'] }
  expect(await room.agent.agent.commands(elsewhere)).toMatchObject([{ name: 'c0' }, { name: 'c1' }])
})
