import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { limits } from '@atrium/protocol/limits'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { newFolder } from '../../test/repository.ts'
import { GitRunner } from '../git/run.ts'
import { gitCaptures, runLimits } from './captures.ts'

afterEach(() => void vi.useRealTimers())

/** Runs a script in place of git. Resolves when the script has written its first output. */
async function started(script: string): Promise<{ readonly ended: Promise<Buffer> }> {
  const folder = newFolder()
  const program = join(folder, 'git')
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const git = new GitRunner(program, [folder, '/usr/bin', '/bin'].join(delimiter), runLimits(limits))
  return new Promise((resolve) => {
    const bytes: Buffer[] = []
    const stopWhen = (output: Buffer) => {
      bytes.push(output)
      resolve({ ended })
      return false
    }
    const ended = git.run([], { cwd: folder, env: {}, stopWhen }).then(() => Buffer.concat(bytes))
  })
}

describe('limits of captures', () => {
  test('[S-57 captureMs] at 120,000: git may run', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { ended } = await started('echo begun; exec sleep 1000')
    vi.advanceTimersByTime(119_999)
    expect(await Promise.race([ended, new Promise((resolve) => setImmediate(() => resolve('runs')))])).toBe(
      'runs',
    )
    vi.advanceTimersByTime(1)
    await expect(ended).rejects.toThrow('too long')
  })

  test('[S-57 captureMs] past 120,000: git is killed, and the capture fails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { ended } = await started('echo begun; exec sleep 1000')
    vi.advanceTimersByTime(120_000)
    await expect(ended).rejects.toThrow('too long')
  })

  test('[S-57 captureOutput] at 67,108,864: all output is returned', async () => {
    const { ended } = await started('head -c 67108864 /dev/zero')
    expect((await ended).length).toBe(67_108_864)
  })

  test('[S-57 captureOutput] past 67,108,864: git is killed, and the capture fails', async () => {
    const { ended } = await started('head -c 67108865 /dev/zero')
    await expect(ended).rejects.toThrow('too much')
  })
})

test('[O18] without git there are no captures, and a sentence says so', async () => {
  const captures = gitCaptures({ folder: newFolder(), path: '' })
  await expect(captures.take(newFolder(), taking())).rejects.toThrow(
    /^The host records files with git, and found no git when it started\./,
  )
})
