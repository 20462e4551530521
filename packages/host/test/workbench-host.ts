import { rootUri } from '@atrium/protocol/uri'
import { expect } from 'vitest'
import type { Agent } from '../src/ports/agent.ts'
import { untilIdle } from './held-flushes.ts'
import { testHost } from './test-host.ts'
import type { Client, TestHost, TestHostOptions } from './test-host.ts'
import { expectSameStates } from './raw-client.ts'
import { Workbench } from './workbench.ts'

/** A host with one agent, a connected workbench, and a client of the native version that follows the root. */
export interface Stage {
  readonly all: TestHost
  readonly bench: Workbench
  readonly watcher: Client
}

export async function stage(agent: Agent, options: TestHostOptions = {}): Promise<Stage> {
  const all = await testHost({ ...options, agents: [agent] })
  const watcher = await all.join('watcher', { subscribe: [rootUri] })
  const bench = new Workbench(all.wire()[1])
  await bench.open()
  return { all, bench, watcher }
}

/** Waits for the end of a turn, however it ends. */
export async function ended({ link, chat }: Workbench, turn: string): Promise<void> {
  await link.until(() => link.chat(chat).turns.some(({ id }) => id === turn))
}

/** Expects that the workbench got no invalid message, waits for no response, and has the same states as the host. */
export async function sound(
  bench: Workbench,
  all: TestHost,
  refusable: readonly string[] = [],
): Promise<void> {
  const { link } = bench
  await bench.settled()
  const refused = link.envelopes.filter(
    ({ rejectionReason, action }) => rejectionReason !== undefined && !refusable.includes(action.type),
  )
  expect([link.problems, refused, [...link.open.keys()]]).toEqual([[], [], []])
  await untilIdle()
  const fresh = new Workbench(all.wire()[1], { clientId: `after ${bench.clientId}` })
  await fresh.initialize()
  for (const channel of link.followed.keys()) await fresh.ask('subscribe', { channel })
  expectSameStates(link, fresh.link)
}
