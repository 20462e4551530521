import { Failure } from './failure.ts'
import type { Cell } from './matrix.ts'
import { handedOver } from './scenes.ts'
import type { Scene } from './scenes.ts'
import { TestHost } from './test-host.ts'
import type { AgentUnderTest } from './test-host.ts'
import { ChatDriver } from './chat-driver.ts'

export interface DriveOptions {
  /** If true, the folder of the scene is not deleted at the end. */
  readonly keep?: boolean
  /** Timeout of every expected event, in milliseconds. */
  readonly timeoutMs?: number
  readonly log?: (sentence: string) => void
}

/** Plays one scene with one agent, on its own host. */
export async function drive(agent: AgentUnderTest, scene: Scene, options: DriveOptions = {}): Promise<Cell> {
  const { keep = false, timeoutMs = 120_000, log = () => {} } = options
  const began = performance.now()
  const host = new TestHost(agent, timeoutMs)
  if (keep) log(`${agent.provider} is in ${host.folder}`)
  const cell = (end: Pick<Cell, 'outcome' | 'reason'>): Cell => ({
    ...end,
    seconds: Math.round((performance.now() - began) / 100) / 10,
  })
  try {
    await host.start()
    const chat = await ChatDriver.start(host)
    const turn = await scene(host, chat)
    await chat.checkAtRest()
    await host.stop()
    return cell({ outcome: handedOver(turn) ? 'handed over' : 'passed' })
  } catch (error) {
    if (!(error instanceof Failure))
      log(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (host.stderr !== '') log(`stderr of the host: ${host.stderr.trim()}`)
    return cell({ outcome: 'failed', reason: error instanceof Error ? error.message : String(error) })
  } finally {
    await host.cleanUp(keep)
  }
}
