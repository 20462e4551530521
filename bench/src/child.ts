import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Memory {
  readonly rss: number
  readonly heap: number
}

/** A server in a process of its own, so that it has a core to itself. */
export interface Child {
  readonly port: number
  memory(): Promise<Memory>
  stop(): Promise<void>
}

/** `under` is a command that runs it, such as a tracer. */
export async function start(
  name: 'host-child' | 'bare-child',
  under: readonly string[] = [],
): Promise<Child> {
  const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const [program, ...args] = [...under, process.execPath, '--expose-gc', file]
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async memory() {
      child.send('memory')
      const [memory] = (await once(child, 'message')) as [Memory]
      return memory
    },
    async stop() {
      child.send('stop')
      await once(child, 'exit')
    },
  }
}

/** The other end: says where it listens, tells its memory, stops. */
export function answerQuestions(port: number, stop: () => unknown): void {
  process.on('message', (question) => {
    if (question === 'stop') return void Promise.resolve(stop()).then(() => process.exit(0))
    globalThis.gc?.()
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    process.send?.({ rss, heap: heapUsed } satisfies Memory)
  })
  process.send?.(port)
}
