import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import type { PostgresPlace } from '@atrium/adapters/store/postgres'
import { onTestFinished } from 'vitest'
import { bin } from './command.ts'
import { readyIn } from './host-process.ts'
import { onlyGuide } from './only-guide.ts'

/** One of several `atrium serve` processes on one database, with a data folder of its own. */
export interface NodeProcess {
  readonly url: string
  readonly child: ChildProcess
  readonly home: string
  /** What the node has logged. */
  readonly log: () => string
  /** The status and the role, as `/readyz` tells them. */
  readyz(): Promise<string>
}

/** The token that all nodes of a test have. */
export const nodeToken = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'

export interface NodeOptions {
  readonly place: PostgresPlace
  readonly password: string
  readonly agents?: AgentSettings
  readonly flags?: readonly string[]
  /** The home of an earlier process of this node, with its data folder. */
  readonly home?: string
}

/** Starts a node. Resolves when it listens, as the owner or as a standby. It is killed after the test. */
export async function startNode(
  name: string,
  {
    place,
    password,
    agents,
    flags = [],
    home = mkdtempSync(join(tmpdir(), `atrium-node-${name}-`)),
  }: NodeOptions,
): Promise<NodeProcess> {
  const token = join(home, 'token')
  writeFileSync(token, nodeToken, { mode: 0o600 })
  const args = ['serve', '--json', '--port', '0', '--data', join(home, 'data'), '--store', urlOf(place)]
  const node = ['--standby', '--machine', name, '--connection-token-file', token, ...flags]
  const child = spawn(process.execPath, [bin, ...args, ...node], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: home, PGPASSWORD: password, ...onlyGuide(agents) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let log = ''
  child.stderr.on('data', (data: Buffer) => void (log += data.toString()))
  const ended = once(child, 'close').then(() => {
    throw new Error(`the node ended: ${log}`)
  })
  ended.catch(() => {})
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  const { url } = readyIn(String(line))
  const readyz = async () => {
    const answer = await fetch(new URL('/readyz', url.replace('ws:', 'http:')))
    return `${answer.status} ${(await answer.text()).trim()}`
  }
  return { url, child, home, log: () => log, readyz }
}

/** The URL of a place, without its password. */
function urlOf({ config: { host, port, user, database }, schema }: PostgresPlace): string {
  return `postgres://${user}@${host}:${port}/${database}?schema=${schema}`
}
