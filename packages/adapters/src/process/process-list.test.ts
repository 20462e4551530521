import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { cpuMs } from '../../../host/test/load.ts'
import { membersOf } from './process-group.ts'

const linux = test.skipIf(process.platform !== 'linux')

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs()
  await work()
  return cpuMs() - before
}

linux(
  '[F5.2] 200 programs that are checked at once cost less than 20 that are checked one after the other',
  async () => {
    await membersOf(process.pid)
    const inTurn = await cpuOf(async () => {
      for (let n = 0; n < 20; n++) await membersOf(process.pid)
    })
    const atOnce = await cpuOf(() => Promise.all(Array.from({ length: 200 }, (_, n) => membersOf(n))))
    expect(atOnce).toBeLessThan(inTurn)
  },
)

linux(
  '[F5.2] a check finds a process that began before it, also while an earlier check is under way',
  async () => {
    const earlier = membersOf(process.pid)
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
    const pid = child.pid ?? 0
    try {
      expect(await membersOf(pid)).toEqual([pid])
      await earlier
    } finally {
      child.kill('SIGKILL')
    }
  },
)
