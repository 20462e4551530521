import { expect, test } from 'vitest'
import { acpRoom, session } from '../../test/acp-room.ts'
import type { AcpRoom } from '../../test/acp-room.ts'
import { manualTimers, scriptedAgent } from '../../test/acp.ts'
import { until } from '../../test/shells.ts'

/** The ids of the ACP sessions that were prompted. */
const used = (room: AcpRoom) => room.agent.lines('prompts').map((line): string => JSON.parse(line).sessionId)

test.each([
  [['deletes', 'closes'], 'delete'],
  [['closes'], 'close'],
])('[N40.5] an agent with %j gets session/%s for each ACP session that is gone', async (quirks, how) => {
  const room = await acpRoom({ quirks })
  await room.turn('say a')
  // The first turn uses the process of the probe, whose own session is gone.
  expect(room.agent.lines('ended')).toHaveLength(1)
  await room.ann.ask('disposeSession', { channel: session })
  await until(() => room.agent.lines('ended').length === 2)
  expect(room.agent.lines('ended')).toEqual([`${how} ${probed(room)}`, `${how} ${used(room)[0]}`])
})

test('[N40.5] the agents that know no such method get none, and a silent one is ended', async () => {
  const room = await acpRoom()
  await room.turn('say a')
  await room.ann.ask('disposeSession', { channel: session })
  const { later, pass, timers } = manualTimers()
  const { agent, lines } = scriptedAgent({ quirks: ['deletes', 'never-ends'], later })
  await agent.probe()
  // The session of the probe is kept for a minute. Only that time passes: the agent has two seconds of its own for the answer.
  for (const timer of timers) if (timer.ms === 60_000 && timers.delete(timer)) timer.task()
  await until(() => lines('ended').length === 1)
  pass(2000)
  await until(() => timers.size === 0)
  expect(room.agent.lines('ended')).toEqual([])
})

/** The id of the ACP session that the probe has opened. */
function probed(room: AcpRoom): string {
  return room.agent.lines('ids')[0] ?? ''
}
