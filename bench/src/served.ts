import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const command = fileURLToPath(new URL('../../packages/cli/bin/atrium.mjs', import.meta.url))

/** The real command, in a process of its own. */
export interface Served {
  readonly url: string
  readonly token: string
  readonly child: ChildProcess
  /** Resolves with its exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals>
}

/** `atrium serve` on a data folder; resolves when it listens. `node` are flags for the runtime. */
export async function serve(data: string, node: readonly string[] = []): Promise<Served> {
  const args = [...node, command, 'serve', '--json', '--data', data, '--log-level', 'error']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
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

/** A host that was killed for the sake of a measurement leaves nothing; one whose measurer was killed shall not either. */
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
