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
import type { Agent } from '@atrium/host/ports/agent'
import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { expect, onTestFinished, test } from 'vitest'
import { room } from '../../../host/test/room.ts'
import { until } from '../../../host/test/puppet.ts'
import { testWorld } from '../../../host/test/world.ts'
import { Cast } from './agents.ts'

const agentFile = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))

test('[N48] what an agent can is asked once: the next start knows it, and starts nothing', async () => {
  const place = newPlace()
  program(place)
  const agents = { goose: { command: join(place, 'goose'), env: { GOOSE_KEY: 'hush' } } }
  const first = await opened(place, agents)
  const agent = goose(first.cast)
  await agent?.probe?.()
  expect(agent?.info.models).toHaveLength(2)
  await first.cast.close()
  const second = await opened(place, agents)
  expect(goose(second.cast)?.info).toEqual(agent?.info)
  await goose(second.cast)?.probe?.()
  expect(started(place)).toHaveLength(1)
  // A secret that it is started with is not in the file.
  expect(readFileSync(join(place, 'agents.json'), 'utf8')).not.toContain('hush')
})

test('[S-34] what is only asked what it can works in an empty folder of ours, and not in everybody’s', async () => {
  const place = newPlace()
  program(place)
  const { cast } = await opened(place)
  await goose(cast)?.probe?.()
  const kept = readdirSync(place).filter((name) => /^[\da-f-]{36}\.json$/.test(name))
  const [cwd = ''] = kept.map(
    (name) => (JSON.parse(readFileSync(join(place, name), 'utf8')) as { cwd: string }).cwd,
  )
  expect([cwd, readdirSync(cwd), statSync(cwd).mode & 0o077]).toEqual([join(place, 'quiet'), [], 0])
})

test('[N48] another build of it is asked again', async () => {
  const place = newPlace()
  program(place)
  const first = await opened(place)
  await goose(first.cast)?.probe?.()
  await first.cast.close()
  utimesSync(join(place, 'goose'), 1, 1)
  expect(goose((await opened(place)).cast)?.info.models).toEqual([])
})

test.each(['', 'null', '[]', '5', '{"x":null}', '{"x":{"knobs":5}}', '{', '{"goose":{}}'])(
  '[N48] what it finds kept may be anything (%j): then it is asked again',
  async (text) => {
    const place = newPlace()
    program(place)
    writeFileSync(join(place, 'agents.json'), text)
    const { cast } = await opened(place)
    expect(goose(cast)?.info.models).toEqual([])
  },
)

test('[N48] who comes to the PATH, and who goes, is told to everyone', async () => {
  const place = newPlace()
  const { cast, world } = await opened(place)
  const all = await room({ agents: cast.agents })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const offered = () => (ann.state(rootUri) as unknown as RootState).agents.map(({ provider }) => provider)
  cast.watch(all.host())
  const before = offered()
  expect(before).not.toContain('goose')
  program(place)
  world.advance(60_000)
  await until(() => offered().includes('goose'))
  expect(offered()).toEqual([...before, 'goose'])
  rmSync(join(place, 'goose'))
  await until(() => (world.advance(60_000), !offered().includes('goose')))
  expect(offered()).toEqual(before)
  // Nothing is heard of one who has closed.
  const heard = ann.envelopes.length
  await cast.close()
  program(place)
  world.advance(60_000)
  // Another one looks for agents, and the host has answered: time enough for what must not come.
  await opened(place)
  await ann.ask('listSessions', {})
  expect(ann.envelopes).toHaveLength(heard)
  await all.host().close()
})

async function opened(place: string, agents: object = {}) {
  const world = testWorld()
  const settings = { data: place, agents } as unknown as ConstructorParameters<typeof Cast>[0]
  const cast = new Cast(settings, world, { PATH: place, HOME: place })
  onTestFinished(() => cast.close())
  return { cast: await cast.open(), world }
}

function goose(cast: Cast): Agent | undefined {
  return cast.agents.find(({ info }) => info.provider === 'goose')
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
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-cast-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
