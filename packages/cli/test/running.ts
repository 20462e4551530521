import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ended } from './command.ts'

const bin = fileURLToPath(new URL('../bin/atrium.mjs', import.meta.url))

/** The real command while it runs, without a terminal. */
export interface Running {
  /** When it has said this on stderr. */
  said(text: string): Promise<void>
  /** The lines of stdout, as they come. */
  readonly lines: AsyncIterator<string>
  /** Like `head`, when it has seen enough. */
  stopReading(): void
  interrupt(): void
  readonly ended: Promise<Ended>
}

export function running(home: string, args: readonly string[]): Running {
  const env = { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: `${home}/data` }
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (data: Buffer) => void (said[name] += data.toString()))
  const ended = once(child, 'close').then(([status]) => ({ status: status as number | null, ...said }))
  return {
    async said(text) {
      while (!said.stderr.includes(text)) await once(child.stderr, 'data')
    },
    lines: linesOf(child.stdout, () => said.stdout),
    stopReading: () => void child.stdout.destroy(),
    interrupt: () => void child.kill('SIGINT'),
    ended,
  }
}

async function* linesOf(stream: NodeJS.ReadableStream, text: () => string): AsyncGenerator<string> {
  for (let at = 0; ;) {
    const end = text().indexOf('\n', at)
    if (end < 0) await once(stream, 'data')
    else {
      yield text().slice(at, end)
      at = end + 1
    }
  }
}
