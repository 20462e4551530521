import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The file of the `atrium` command. */
export const command = fileURLToPath(new URL('../../packages/cli/bin/atrium.mjs', import.meta.url))

/** A running `atrium serve`. */
export interface ServeProcess {
  readonly url: string
  readonly token: string
  readonly child: ChildProcess
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly exit: Promise<number | NodeJS.Signals>
}

/** Starts `atrium serve` on a data folder and waits until it listens. `node` holds flags for Node, `env` more variables. */
export async function serve(
  data: string,
  node: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<ServeProcess> {
  const args = [...node, command, 'serve', '--json', '--data', data, '--log-level', 'error']
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  })
  running.add(child)
  const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals)
  void exit.then(() => running.delete(child))
  const ended = exit.then((why) => Promise.reject(new Error(`atrium serve ended with ${why}`)))
  ended.catch(() => {})
  if (!child.stdout) throw new Error('no stdout')
  const line = once(createInterface(child.stdout), 'line') as Promise<[string]>
  const [ready] = await Promise.race([line, ended])
  const { url, token } = JSON.parse(ready) as { url: string; token: string }
  return { url, token, child, exit }
}

/** The running hosts. They are killed at the exit of this process, so that an interrupted measurement leaves none behind. */
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
