import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { spread } from '../percentiles.ts'
import type { Spread } from '../percentiles.ts'
import { check, fact } from '../table.ts'
import { Wire, masked } from '../wire.ts'

const samples = 500
const everyMs = 20
/**
 * The goal: during a flood, the p99 of a quiet client's echo times is at most this many times its p99 without a
 * flood.
 */
const goal = 3

/**
 * Measures how much slower the host answers a quiet client while other links send as fast as they can. The rate limit
 * of each link (S-22) must keep such links from affecting other clients (I13). A second host, which gets no flood, is
 * measured at the same time. It shares only the processors and the disk with the first host, so its figures show what
 * the busy machine adds.
 */
export async function fairBench(wanted: readonly string[]): Promise<boolean> {
  const [host, other] = [await start('host-child'), await start('host-child')]
  const [innocent, beside] = [await Innocent.open(host), await Innocent.open(other)]
  const quiet = await innocent.measure()
  fact('dispatch to echo of a quiet client', figures(quiet))
  let met = true
  for (const links of wanted.length > 0 ? wanted.map(Number) : [1, 10, 100]) {
    const flood = await startFlood(host.port, links)
    const busy = await innocent.measure()
    const apart = await beside.measure()
    const sent = await flood.stop()
    const ratio = busy.p99 / quiet.p99
    const figure = `${figures(busy)}, ${ratio.toFixed(2)}x quiet, goal at most ${goal}x`
    met =
      check(
        `the same under a flood by ${links} (${(sent / 1000).toFixed(0)}k echoes)`,
        figure,
        ratio <= goal,
      ) && met
    fact('  meanwhile at a host without a flood', figures(apart))
    await innocent.measure(20)
  }
  await Promise.all([host.stop(), other.stop()])
  return met
}

/** A client that dispatches an action to its own session at fixed times, and measures the time to each echo. */
class Innocent {
  readonly #wire: Wire
  #clientSeq = 0

  private constructor(wire: Wire) {
    this.#wire = wire
  }

  static async open({ port }: Child): Promise<Innocent> {
    const wire = await Wire.open(port)
    const channel = 'ahp-session:/innocent'
    await wire.ask('initialize', {
      channel: 'ahp-root://',
      protocolVersions: ['1.0.0'],
      clientId: 'innocent',
    })
    await wire.ask('createSession', { channel })
    await wire.ask('subscribe', { channel })
    const innocent = new Innocent(wire)
    await innocent.measure(50)
    return innocent
  }

  /**
   * Dispatches `count` actions, one every 20 ms, without waiting for echoes. Returns the percentiles of the times to
   * the echoes. A time counts from the scheduled moment, so a late dispatch counts too.
   */
  async measure(count = samples): Promise<Spread> {
    const wire = this.#wire
    const first = this.#clientSeq + 1
    const times: number[] = []
    const began = performance.now()
    wire.onFrame = (data, start, end) => {
      const [, clientSeq] = /"clientSeq":(\d+)/.exec(data.toString('latin1', start, end)) ?? []
      const n = Number(clientSeq ?? NaN) - first
      if (n >= 0) times[n] = performance.now() - began - n * everyMs
    }
    for (let n = 0; n < count; n++) {
      await new Promise((resolve) => setTimeout(resolve, began + n * everyMs - performance.now()))
      wire.write(masked(titleChange('ahp-session:/innocent', ++this.#clientSeq)))
    }
    await wire.until(() => times.length === count)
    return spread(times)
  }
}

/**
 * Starts a process whose links flood the host, and waits until the host has answered their first 20,000 actions.
 * `stop` resolves with the number of echoes.
 */
async function startFlood(port: number, links: number): Promise<{ stop(): Promise<number> }> {
  const child = fork(fileURLToPath(new URL('./flood-child.js', import.meta.url)), [`${port}`, `${links}`])
  await once(child, 'message')
  return {
    async stop() {
      child.send('stop')
      const [sent] = (await once(child, 'message')) as [number]
      child.kill()
      return sent
    },
  }
}

export function titleChange(channel: string, clientSeq: number): string {
  const action = { type: 'session/titleChanged', title: `title ${clientSeq}` }
  const params = { channel, clientSeq, action }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

const figures = ({ p50, p99 }: Spread) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
