import { expect, test } from 'vitest'
import { drive } from './drive.ts'
import { must } from './failure.ts'
import { processesOf } from './survivors.ts'
import { isFor, scenes } from './scenes.ts'
import { guidePrompts } from './prompts.ts'
import type { AgentUnderTest } from './test-host.ts'

const guide = { provider: 'guide', prompts: guidePrompts }

const played = Object.entries(scenes).filter(([, scene]) => isFor(scene, guide))

test.concurrent.each(played)('[B42] the guide passes the scene %s', async (_, scene) => {
  const { outcome, reason } = await drive(guide, scene)
  expect({ outcome, reason }).toEqual({ outcome: 'passed', reason: undefined })
})

test('[B42] an agent that ignores MCP servers has no scene with the tools of servers and clients', () => {
  const agent = { ...guide, launch: () => ({ command: '', args: [], env: {} }), record: () => {} }
  const missing = (each: AgentUnderTest) =>
    Object.entries(scenes).flatMap(([name, scene]) => (isFor(scene, each) ? [] : [name]))
  expect(missing(agent)).toEqual(['steer', 'consent'])
  expect(missing({ ...agent, ignoresServers: true })).toEqual(['steer', 'tools', 'client', 'consent'])
})

test.concurrent('[B43] a failing scene gives its reason and leaves no process behind', async () => {
  let folder = ''
  const cell = await drive(guide, (host) => {
    folder = host.folder
    must(processesOf(folder).length > 0, 'no process runs')
    must(false, 'it was Tuesday')
  })
  expect(cell).toMatchObject({ outcome: 'failed', reason: 'it was Tuesday' })
  expect(processesOf(folder)).toEqual([])
})

test.concurrent('[B43] an agent that the host does not have fails without a wait', async () => {
  const nobody = { provider: 'nobody', prompts: guidePrompts }
  const { outcome, reason } = await drive(nobody, () => Promise.reject(new Error('it was there')))
  expect(outcome).toBe('failed')
  expect(reason).not.toContain('it was there')
})

test.concurrent('[B43] an event that does not come in time is the reason of the failure', async () => {
  const { outcome, reason } = await drive(guide, () => Promise.reject(new Error('it came')), { timeoutMs: 1 })
  expect({ outcome, reason }).toEqual({ outcome: 'failed', reason: 'timed out: a host that listens' })
})
