import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Memory {
  readonly rss: number
  readonly heap: number
}

/** A server in its own process, so that it does not share a core with the load generator. */
export interface Child {
  readonly port: number
  /** Memory after a garbage collection. */
  memory(): Promise<Memory>
  /** The CPU time of all threads, since the start. */
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

/** Starts a server with arguments. */
export async function start(
  name: 'host-child' | 'bare-child' | 'bare-pty-child',
  ...args: readonly string[]
): Promise<Child> {
  const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', file, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async memory() {
      child.send('memory')
      const [answer] = (await once(child, 'message')) as [Memory]
      return answer
    },
    async cpuMs() {
      child.send('cpu')
      const [answer] = (await once(child, 'message')) as [number]
      return answer
    },
    async stop() {
      child.send('stop')
      await once(child, 'exit')
    },
  }
}

/** For the child process: reports the port to the parent, answers the parent's questions, and stops when told. */
export function answerParent(port: number, stop: () => unknown): void {
  process.on('message', (question: 'memory' | 'cpu' | 'stop') => {
    if (question === 'stop') return void Promise.resolve(stop()).then(() => process.exit(0))
    if (question === 'cpu') {
      const { user, system } = process.cpuUsage()
      return void process.send?.((user + system) / 1000)
    }
    globalThis.gc?.()
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    process.send?.({ rss, heap: heapUsed } satisfies Memory)
  })
  process.send?.(port)
}
