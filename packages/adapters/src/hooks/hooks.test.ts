import { randomUUID } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hooksContract } from '../../../host/src/ports/contracts/hooks.contract.ts'
import { onTestFinished } from 'vitest'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { Watchdog } from '../process/watchdog.ts'
import { hookRunner } from './hooks.ts'

hooksContract('sh', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'atrium-hooks-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const mark = randomUUID()
  const runner = hookRunner({ watchdog: new Watchdog(mark), mark, environment: process.env })
  const seconds = uniqueSeconds()
  return { runner, folder, endless: `sleep ${seconds}`, alive: () => processesWith(seconds).length }
})
