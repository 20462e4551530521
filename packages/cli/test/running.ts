import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bin } from './command.ts'
import type { Ended } from './command.ts'

/** A running command without a terminal. */
export interface Running {
  /** Resolves when stderr contains the text. */
  said(text: string): Promise<void>
  /** The lines of stdout. */
  readonly lines: AsyncGenerator<string, never>
  /** Closes the pipe, as `head` does when it has enough. */
  stopReading(): void
  interrupt(): void
  readonly ended: Promise<Ended>
}

export function running(home: string, args: readonly string[]): Running {
  const env = { PATH: process.env['PATH'], HOME: home, ATRIUM_HOME: `${home}/data` }
  const child = spawn(process.execPath, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (data: Buffer) => void (output[name] += data.toString()))
  const ended = once(child, 'close').then(() => ({ status: child.exitCode, ...output }))
  return {
    async said(text) {
      while (!output.stderr.includes(text)) await once(child.stderr, 'data')
    },
    lines: linesOf(child.stdout, () => output.stdout),
    stopReading: () => void child.stdout.destroy(),
    interrupt: () => void child.kill('SIGINT'),
    ended,
  }
}

async function* linesOf(stream: NodeJS.ReadableStream, text: () => string): AsyncGenerator<string, never> {
  for (let at = 0; ;) {
    const end = text().indexOf('\n', at)
    if (end < 0) await once(stream, 'data')
    else {
      yield text().slice(at, end)
      at = end + 1
    }
  }
}
