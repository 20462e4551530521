import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { spread } from '../percentiles.ts'
import type { Spread } from '../percentiles.ts'
import { opened, root, titleChange } from '../messages.ts'
import type { Wire } from '../wire.ts'

const session = 'ahp-session:/echo'

/** What was measured while a host built its index. */
export interface Built {
  /** The milliseconds from the first indexed session to the last. */
  readonly ms: number
  /**
   * Milliseconds from a dispatch to its echo while the index was built: at the host that built it, and at a host
   * without an index.
   */
  readonly during: readonly [indexing: Spread, plain: Spread]
  /** Milliseconds from a dispatch to its echo at the same two hosts, once the index was complete. */
  readonly after: readonly [indexed: Spread, plain: Spread]
}

/** Starts a host on a filled data folder, and another one without an index. Measures echoes until the index is complete, and after. */
export async function measureEchoes(folder: string): Promise<Built> {
  const hosts = await Promise.all([start('host-child', 'search', `data=${folder}`), start('host-child')])
  const [indexing, plain] = await Promise.all([Echoes.open(hosts[0]), Echoes.open(hosts[1])])
  const total = await indexing.pending()
  while ((await indexing.pending()) === total) await pause(10)
  const began = performance.now()
  let last = began
  const during = await together([indexing, plain], async () => {
    if (performance.now() - last < 100) return true
    last = performance.now()
    return (await indexing.pending()) > 0
  })
  const ms = performance.now() - began
  let left = during[0].count
  const after = await together([indexing, plain], async () => --left > 0 && left > during[0].count - 500)
  await Promise.all(hosts.map((host) => host.stop()))
  return { ms, during, after }
}

async function together(
  [one, other]: readonly [Echoes, Echoes],
  goesOn: () => Promise<boolean>,
): Promise<readonly [Spread, Spread]> {
  const times: [number[], number[]] = [[], []]
  while (await goesOn()) {
    times[0].push(await one.echo())
    times[1].push(await other.echo())
    await pause(2)
  }
  return [spread(times[0]), spread(times[1])]
}

/** A client that changes the title of a session and waits for the echo, again and again. */
class Echoes {
  readonly #wire: Wire
  readonly #other: Wire
  #seq = 0

  private constructor(wire: Wire, other: Wire) {
    this.#wire = wire
    this.#other = other
  }

  static async open(child: Child): Promise<Echoes> {
    const [wire, other] = [await opened(child, 'echo'), await opened(child, 'reader')]
    await wire.ask('createSession', { channel: session })
    await wire.ask('subscribe', { channel: session })
    return new Echoes(wire, other)
  }

  echo(): Promise<number> {
    return this.#wire.echo([titleChange(session, ++this.#seq, `Title ${this.#seq}`)])
  }

  /**
   * The number of sessions that are not indexed yet, without the session that `echo` renames. That session is hardly
   * ever indexed, because its title changes all the time.
   */
  async pending(): Promise<number> {
    const text = await this.#other.ask('x-atrium/search', { channel: root, query: '' })
    const { result } = JSON.parse(text) as { readonly result: { readonly pending?: number } }
    return Math.max(0, (result.pending ?? 0) - 1)
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
