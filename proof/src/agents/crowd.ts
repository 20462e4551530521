import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChatDriver } from './chat-driver.ts'
import { must } from './failure.ts'
import { processesOf } from './survivors.ts'
import { TestHost } from './test-host.ts'
import type { AgentUnderTest } from './test-host.ts'

/** What the processes of an agent take at one moment. An agent may be several processes. */
export interface Sample {
  readonly when: string
  readonly processes: number
  /** The resident memory of all of them, in MB. Pages that they share count for each. */
  readonly rssMb: number
}

/**
 * Runs one turn in each of many sessions, one after the other, and counts the processes of the agent: after the first turn, after
 * the last one, and after the time that an idle process may live.
 */
export async function crowd(
  agent: AgentUnderTest,
  sessions: number,
  idleMs: number,
): Promise<readonly Sample[]> {
  const host = new TestHost(agent, 300_000)
  const samples: Sample[] = []
  try {
    await host.start()
    for (let n = 1; n <= sessions; n++) {
      const chat = await ChatDriver.start(host)
      const turn = await chat.turnEnd(await chat.startTurn(agent.prompts.say(`Session ${n}.`)))
      must(turn.state === 'complete', `the turn of session ${n} is ${turn.state}`)
      if (n === 1) samples.push(sampleOf(host, 'after the first session'))
    }
    // Processes that were told to end take a moment to do so.
    await sleep(settleMs)
    samples.push(sampleOf(host, `after ${sessions} sessions`))
    await sleep(idleMs)
    samples.push(sampleOf(host, 'after the idle time'))
    return samples
  } finally {
    await host.cleanUp(false)
  }
}

function sampleOf({ folder }: TestHost, when: string): Sample {
  const found = processesOf(join(folder, 'home'))
  const bytes = found.reduce((sum, { pid }) => sum + residentKb(pid), 0)
  return { when, processes: found.length, rssMb: Math.round(bytes / 1024) }
}

function residentKb(pid: number): number {
  try {
    const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kb)
  } catch {
    return 0
  }
}

const settleMs = 10_000
