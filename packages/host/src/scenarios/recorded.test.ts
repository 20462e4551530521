import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { patientAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { readRecording, replay } from '../../test/recording.ts'
import { testHost } from '../../test/test-host.ts'
import { expectSameStates } from '../../test/raw-client.ts'
import type { Message, RawClient } from '../../test/raw-client.ts'
import { Workbench } from '../../test/workbench.ts'

/** Recordings are read from their folder and are not part of this repository. */
const folder =
  process.env['ATRIUM_RECORDINGS'] ??
  fileURLToPath(new URL('../../../../../shared/transcripts', import.meta.url))
const files = existsSync(folder) ? readdirSync(folder).filter((name) => /^web-.*\.jsonl$/.test(name)) : []

describe('recorded frames of the workbench', () => {
  if (files.length === 0) test('[W11] skipped: no recorded frames', ({ skip }) => skip('no recorded frames'))

  test.each(files)('[W11] %s', async (file) => {
    const recording = readRecording(join(folder, file))
    const agents = recording.providers.map((provider) => patientAgent(provider))
    const all = await testHost({ agents })
    const finish = (turnId: string) => {
      for (const agent of agents) agent.finish(turnId)
    }
    const links = await replay(recording, () => all.wire()[1], finish)
    const alive = links.filter(({ transport }) => !transport.closed.aborted)
    for (const link of alive) await link.until(() => link.pending.length === 0 && link.open.size === 0)
    await untilIdle()
    const requests = recording.lines.filter(({ d, m }) => d === 'c2s' && m?.id !== undefined)
    expect(links.flatMap(({ asked }) => asked)).toHaveLength(requests.length)
    for (const link of links) {
      expect(link.problems).toEqual([])
      expect(link.errors.filter(({ asked, code }) => !permitted(asked, code))).toEqual([])
      expect(link.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([])
    }
    for (const link of alive) await sameAsNow(link, () => all.wire()[1])
  })
})

/** Whether an error is allowed, because it concerns a feature of the recorded host that ours need not have. */
function permitted({ method, params }: Message, code: number): boolean {
  if (method === 'subscribe') return code === -32008 && String(params?.['channel']).includes('/changeset/')
  // None of our agents has the recorded resource.
  return method === 'authenticate' && [-32601, -32602].includes(code)
}

async function sameAsNow(link: RawClient, connect: () => RawClient['transport']): Promise<void> {
  const fresh = new Workbench(connect(), { clientId: `fresh ${link.clientId}` })
  await fresh.initialize()
  for (const channel of link.followed.keys()) await fresh.ask('subscribe', { channel })
  expectSameStates(link, fresh.link)
}
