import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { AgentClient } from '../agent/agent-client.ts'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact, row } from '../table.ts'
import { MeasuredRepository } from './folders.ts'

const rounds = 11
const files = 200

/**
 * Measures how much later the first text of a turn comes because the host first captures the folder: it stores the
 * content of all files. The folder is small, and the turns change nothing in it.
 */
export async function beginTable(): Promise<boolean> {
  console.log(`\nbegin: an agent in a folder of ${files} files, relative to a host without captures`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  const { root } = new MeasuredRepository(join(folder, 'tree'), { files, each: 25, bytes: 4096 })
  const hosts = {
    bare: await start('host-child', [], ['acp']),
    ours: await start('host-child', [], ['acp', 'captures']),
  }
  try {
    const times = await measured(hosts, pathToFileURL(root).href)
    const ratio = (kind: 'begun' | 'again') =>
      median(times.ours[kind].map((ms, i) => ms / (times.bare[kind][i] ?? 1)))
    const ms = (all: readonly number[]) => `${median(all).toFixed(0)} ms`
    const begun = row('a new session, to the first text', ms(times.ours.begun), ratio('begun'), {
      atMost: 1.2,
    })
    // The agent already runs and answers at once, so nothing hides the time that the capture takes.
    const again = row('a later turn, to the first text', ms(times.ours.again), ratio('again'), {
      atMost: 1.2,
    })
    fact('a later turn without captures', ms(times.bare.again))
    return begun && again
  } finally {
    await hosts.bare.stop()
    await hosts.ours.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Times {
  /** Milliseconds from the creation of a session to its first text, one entry per round. */
  readonly begun: number[]
  /** Milliseconds from the message of a later turn to its first text, one entry per round. */
  readonly again: number[]
}

/**
 * Measures both hosts in turn, so that other load on the machine affects both alike. The first two rounds are a
 * warm-up and are not returned.
 */
async function measured(
  hosts: { readonly bare: Child; readonly ours: Child },
  uri: string,
): Promise<{ readonly bare: Times; readonly ours: Times }> {
  const times = { bare: { begun: [], again: [] } as Times, ours: { begun: [], again: [] } as Times }
  const clients = {
    bare: await AgentClient.open(hosts.bare.port),
    ours: await AgentClient.open(hosts.ours.port),
  }
  for (let round = -2; round < rounds; round++)
    for (const name of round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)) {
      const session = `ahp-session:/${round + 2}`
      const begun = await clients[name].session(session, 1, 'scripted', [uri])
      // Wait for the capture at the end of the turn. It belongs to that turn and must not delay the next one.
      await new Promise((resolve) => setTimeout(resolve, 300))
      const again = await clients[name].turn(session, 1)
      await new Promise((resolve) => setTimeout(resolve, 300))
      if (round < 0) continue
      times[name].begun.push(begun.first)
      times[name].again.push(again.first)
    }
  clients.bare.close()
  clients.ours.close()
  return times
}
