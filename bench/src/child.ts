import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'

export interface Memory {
  readonly rss: number
  readonly heap: number
  /** The highest RSS since the start of the process, in bytes. */
  readonly peak: number
}

/** Delay of the event loop in milliseconds. */
export interface Delay {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** A server in its own process, so that it does not share a core with the load generator. */
export interface Child {
  readonly port: number
  /** Memory after a garbage collection. */
  memory(): Promise<Memory>
  /** The event loop delay since the last call. The first call starts the measurement. */
  delay(): Promise<Delay>
  stop(): Promise<void>
}

/** Starts a server. `under` is a command that runs the server, such as a tracer; `also` holds further arguments of the server. */
export async function start(
  name: 'host-child' | 'bare-child' | 'bare-pty-child',
  under: readonly string[] = [],
  also: readonly string[] = [],
): Promise<Child> {
  const file = fileURLToPath(new URL(`./${name}.js`, import.meta.url))
  const [program = process.execPath, ...args] = [...under, process.execPath, '--expose-gc', file, ...also]
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const [port] = (await once(child, 'message')) as [number]
  const ask = async <T>(question: keyof typeof answers): Promise<T> => {
    child.send(question)
    const [answer] = (await once(child, 'message')) as [T]
    return answer
  }
  return {
    port,
    memory: () => ask<Memory>('memory'),
    delay: () => ask<Delay>('delay'),
    async stop() {
      child.send('stop')
      await once(child, 'exit')
    },
  }
}

/** For the child process: reports the port to the parent, answers the parent's questions, and stops when told. */
export function answerParent(port: number, stop: () => unknown): void {
  process.on('message', (question: keyof typeof answers | 'stop') => {
    if (question === 'stop') return void Promise.resolve(stop()).then(() => process.exit(0))
    process.send?.(answers[question]())
  })
  process.send?.(port)
}

const answers = {
  memory(): Memory {
    globalThis.gc?.()
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    return { rss, heap: heapUsed, peak: process.resourceUsage().maxRSS * 1024 }
  },
  delay(): Delay {
    loop.enable()
    // The measured delay includes the sampling interval, so the interval is subtracted.
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolution)
    const delay = { p50: ms(loop.percentile(50)), p99: ms(loop.percentile(99)), max: ms(loop.max) }
    loop.reset()
    return delay
  },
}

const resolution = 5
const loop = monitorEventLoopDelay({ resolution })
