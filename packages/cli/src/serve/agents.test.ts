import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import type { Agent } from '@atrium/host/ports/agent'
import type { RootState } from '@atrium/protocol/root/state'
import { readinessOf } from '@atrium/protocol/root/readiness'
import { rootUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { testHost } from '../../../host/test/test-host.ts'
import { until } from '../../../host/test/scripted-agent.ts'
import { testWorld } from '../../../host/test/world.ts'
import { documentIn } from '../../test/command.ts'
import { AgentSet } from './agents.ts'

const agentFile = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))

test('[N48.3] [N48] an agent is probed once: the next start of the host reads its saved profile', async () => {
  const place = newPlace()
  program(place)
  const agents = { goose: { command: join(place, 'goose'), env: { GOOSE_KEY: 'hush' } } }
  const first = await opened(place, agents)
  const agent = goose(first.agentSet)
  await agent?.probe?.()
  expect(agent?.info.models).toHaveLength(2)
  await first.agentSet.close()
  const second = await opened(place, agents)
  expect(goose(second.agentSet)?.info).toEqual(agent?.info)
  await goose(second.agentSet)?.probe?.()
  expect(started(place)).toHaveLength(1)
  // The secret in the environment of the agent is not in the file.
  expect(readFileSync(join(place, 'agents.json'), 'utf8')).not.toContain('hush')
})

test('[H14] an agent whose program does not exist is broken, and not tried when the program is there', async () => {
  const place = newPlace()
  const agents = { goose: { command: join(place, 'goose') } }
  const { agentSet, world } = await opened(place, agents)
  const state = () => {
    const agent = goose(agentSet)
    return agent && readinessOf(agent.info)
  }
  expect(state()).toEqual({ state: 'broken', problem: expect.stringContaining('there is no program') })
  const all = await testHost({ agents: agentSet.agents })
  agentSet.watch(all.host())
  program(place)
  await until(() => (world.advance(60_000), state()?.state === 'not-tried'))
  await all.host().close()
})

test('[H14.3] an agent that is looked for in a PATH of its own is not tried at first', async () => {
  const place = newPlace()
  program(place)
  const agents = { mine: { command: 'goose', env: { PATH: `${place}:${process.env['PATH']}` } } }
  const agentSet = new AgentSet({ data: place, agents }, testWorld(), { PATH: '/nowhere', HOME: place })
  onTestFinished(() => agentSet.close())
  const mine = (await agentSet.open()).agents.find(({ info }) => info.provider === 'mine')
  expect(mine && readinessOf(mine.info)).toEqual({ state: 'not-tried' })
})

test('[S-34] a probed agent runs in an empty private folder, and not in the shared temporary folder', async () => {
  const place = newPlace()
  program(place)
  const { agentSet } = await opened(place)
  await goose(agentSet)?.probe?.()
  const kept = readdirSync(place).filter((name) => /^[\da-f-]{36}\.json$/.test(name))
  const [cwd = ''] = kept.map((name) => String(documentIn(readFileSync(join(place, name), 'utf8'))['cwd']))
  expect([cwd, readdirSync(cwd), statSync(cwd).mode & 0o077]).toEqual([join(place, 'quiet'), [], 0])
})

test('[N48.3] [N48] another build of an agent is probed again', async () => {
  const place = newPlace()
  program(place)
  const first = await opened(place)
  await goose(first.agentSet)?.probe?.()
  await first.agentSet.close()
  utimesSync(join(place, 'goose'), 1, 1)
  expect(goose((await opened(place)).agentSet)?.info.models).toEqual([])
})

test.each(['', 'null', '[]', '5', '{"x":null}', '{"x":{"knobs":5}}', '{', '{"goose":{}}'])(
  '[N48] a damaged profile file (%j) is ignored',
  async (text) => {
    const place = newPlace()
    program(place)
    writeFileSync(join(place, 'agents.json'), text)
    const { agentSet } = await opened(place)
    expect(goose(agentSet)?.info.models).toEqual([])
  },
)

test('[N48.2] [N48] clients learn of agents that are added to the PATH or removed from it', async () => {
  const place = newPlace()
  const { agentSet, world } = await opened(place)
  const all = await testHost({ agents: agentSet.agents })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  // The cast names the type of the root channel's state.
  const offered = () => (ann.state(rootUri) as unknown as RootState).agents.map(({ provider }) => provider)
  agentSet.watch(all.host())
  const before = offered()
  expect(before).not.toContain('goose')
  program(place)
  world.advance(60_000)
  await until(() => offered().includes('goose'))
  expect(offered()).toEqual([...before, 'goose'])
  rmSync(join(place, 'goose'))
  await until(() => (world.advance(60_000), !offered().includes('goose')))
  expect(offered()).toEqual(before)
  // After close no client gets an update.
  const count = ann.envelopes.length
  await agentSet.close()
  program(place)
  world.advance(60_000)
  // In the meantime another agent set looks for agents, and the host answers a request. A wrong update would arrive in
  // this time.
  await opened(place)
  await ann.ask('listSessions', {})
  expect(ann.envelopes).toHaveLength(count)
  await all.host().close()
})

async function opened(place: string, agents: AgentSettings = {}) {
  const world = testWorld()
  const agentSet = new AgentSet({ data: place, agents }, world, { PATH: place, HOME: place })
  onTestFinished(() => agentSet.close())
  return { agentSet: await agentSet.open(), world }
}

function goose(agentSet: AgentSet): Agent | undefined {
  return agentSet.agents.find(({ info }) => info.provider === 'goose')
}

function program(place: string): void {
  const variables = `ACP_QUIRKS=options ACP_STORE='${place}'`
  writeFileSync(join(place, 'goose'), `#!/bin/sh\n${variables} exec '${process.execPath}' '${agentFile}'\n`)
  chmodSync(join(place, 'goose'), 0o755)
}

function started(place: string): readonly string[] {
  return readFileSync(join(place, 'started'), 'utf8').trim().split('\n')
}

function newPlace(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-agents-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
