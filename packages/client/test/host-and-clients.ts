import { pair } from '@atrium/protocol/rpc/pair'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { room } from '../../host/test/test-host.ts'
import type { Room, RoomOptions } from '../../host/test/test-host.ts'
import { checked } from '../src/shared/schemas.ts'
import { Client } from '../src/client.ts'
import type { ClientOptions } from '../src/client.ts'
import type { ClientProblem } from '../src/shared/errors.ts'
import type { World } from '../src/shared/world.ts'

/** Time that somebody else turns; chance that is none. */
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

  /** In the order they are due, each at its own moment. */
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

/** A client whose links somebody else can cut. */
export class TestClient extends Client {
  readonly clock: ManualClock
  readonly problems: ClientProblem[] = []
  readonly #links: Transport[]

  constructor(open: () => Transport, given: Partial<ClientOptions> = {}, clock = new ManualClock()) {
    const links: Transport[] = []
    const remembered = () => {
      const link = open()
      links.push(link)
      return link
    }
    const options = { clientId: 'guest', world: clock, check: checked, versions: ['1.0.0'] }
    super({ ...options, ...given, open: remembered })
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

export interface HostAndClients extends Room {
  guest(clientId: string, given?: Partial<ClientOptions>): TestClient
}

/** The real host, and clients of the kind that this package is about. */
export async function hostAndClients(options?: RoomOptions): Promise<HostAndClients> {
  const all = await room(options)
  const guest = (clientId: string, given: Partial<ClientOptions> = {}) => {
    const visitor = new TestClient(() => all.wire()[1], { clientId, ...given })
    return visitor.connect() as TestClient
  }
  return { ...all, guest }
}

/** A host by hand: what it hears is kept, what it says is said by the test. */
export class ScriptedHost {
  readonly heard: { readonly id?: number; readonly method?: string; readonly params?: never }[] = []
  #end: Transport | undefined
  readonly #waiting = new Set<() => void>()

  open = (): Transport => {
    const [near, far] = pair()
    this.#end = near
    near.receive((frame) => {
      this.heard.push(JSON.parse(frame) as never)
      for (const look of this.#waiting) look()
    })
    return far
  }

  say(message: object): void {
    this.#end?.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  }

  raw(frame: string): void {
    this.#end?.send(frame)
  }

  act(channel: string, serverSeq: number, action: object, rest: object = {}): void {
    this.say({ method: 'action', params: { channel, serverSeq, action, ...rest } })
  }

  /** The nth question of a kind, when it is there. */
  asked(method: string, nth = 0): Promise<{ readonly id: number; readonly params: Record<string, unknown> }> {
    const find = () => this.heard.filter((message) => message.method === method)[nth]
    return new Promise((resolve) => {
      const look = () => {
        const found = find()
        if (!found) return
        this.#waiting.delete(look)
        resolve(found as never)
      }
      this.#waiting.add(look)
      look()
    })
  }

  async answer(method: string, result: object | null, nth = 0): Promise<void> {
    const { id } = await this.asked(method, nth)
    this.say({ id, result })
  }

  cut(): void {
    this.#end?.close(1006, 'cut')
  }
}
