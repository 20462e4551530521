import { pair } from '@atrium/protocol/rpc/pair'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { testHost } from '../../host/test/test-host.ts'
import type { TestHost, TestHostOptions } from '../../host/test/test-host.ts'
import { checked } from '../src/shared/schemas.ts'
import { Client } from '../src/client.ts'
import type { ClientOptions } from '../src/client.ts'
import type { ClientProblem } from '../src/shared/errors.ts'
import type { World } from '../src/shared/world.ts'

/** A clock that tests advance. `random` is always 0. */
export class ManualClock implements World {
  readonly #tasks = new Set<{ readonly at: number; readonly task: () => void }>()
  now = 0

  after(ms: number, task: () => void): () => void {
    const due = { at: this.now + ms, task }
    this.#tasks.add(due)
    return () => void this.#tasks.delete(due)
  }

  random(): number {
    return 0
  }

  /** Runs the tasks that become due, in order, each at its own time. */
  advance(ms: number): void {
    const end = this.now + ms
    for (;;) {
      const [next] = [...this.#tasks].filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
      if (!next) break
      this.#tasks.delete(next)
      this.now = next.at
      next.task()
    }
    this.now = end
  }
}

/** A client whose link a test can cut. It collects the reported problems. */
export class TestClient extends Client {
  readonly clock: ManualClock
  readonly problems: ClientProblem[] = []
  readonly #links: Transport[]

  constructor(open: () => Transport, given: Partial<ClientOptions> = {}, clock = new ManualClock()) {
    const links: Transport[] = []
    const recorded = () => {
      const link = open()
      links.push(link)
      return link
    }
    const options = { clientId: 'client', world: clock, check: checked, versions: ['1.0.0'] }
    super({ ...options, ...given, open: recorded })
    this.clock = clock
    this.#links = links
    this.onProblem((problem) => this.problems.push(problem))
  }

  get links(): number {
    return this.#links.length
  }

  cut(): void {
    this.#links.at(-1)?.close(1006, 'cut')
  }
}

export interface HostAndClients extends TestHost {
  client(clientId: string, given?: Partial<ClientOptions>): TestClient
}

/** A real host, and clients of this package connected to it. */
export async function hostAndClients(options?: TestHostOptions): Promise<HostAndClients> {
  const all = await testHost(options)
  const client = (clientId: string, given: Partial<ClientOptions> = {}) => {
    return new TestClient(() => all.wire()[1], { clientId, ...given }).connect()
  }
  return { ...all, client }
}

/** A host that the test plays: it records the received messages and sends only what the test says. */
export class ScriptedHost {
  readonly received: { readonly id?: number; readonly method?: string; readonly params?: never }[] = []
  #end: Transport | undefined
  readonly #waiting = new Set<() => void>()

  open = (): Transport => {
    const [near, far] = pair()
    this.#end = near
    near.receive((frame) => {
      this.received.push(JSON.parse(frame) as never)
      for (const check of this.#waiting) check()
    })
    return far
  }

  send(message: object): void {
    this.#end?.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  sendRaw(frame: string): void {
    this.#end?.send(frame)
  }

  sendAction(channel: string, serverSeq: number, action: object, rest: object = {}): void {
    this.send({ method: 'action', params: { channel, serverSeq, action, ...rest } })
  }

  /** Resolves with the nth message of a method, once it has arrived. */
  request(
    method: string,
    nth = 0,
  ): Promise<{ readonly id: number; readonly params: Record<string, unknown> }> {
    const find = () => this.received.filter((message) => message.method === method)[nth]
    return new Promise((resolve) => {
      const check = () => {
        const found = find()
        if (!found) return
        this.#waiting.delete(check)
        resolve(found as never)
      }
      this.#waiting.add(check)
      check()
    })
  }

  async respond(method: string, result: object | null, nth = 0): Promise<void> {
    const { id } = await this.request(method, nth)
    this.send({ id, result })
  }

  cut(): void {
    this.#end?.close(1006, 'cut')
  }
}
