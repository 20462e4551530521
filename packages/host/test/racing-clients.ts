import type { Envelope, Uri } from '@atrium/protocol/channel'
import type { Schedule } from '@atrium/protocol/rpc/pair'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Version } from '@atrium/protocol/versions/negotiate'
import type { Scheduler } from 'fast-check'
import { expect } from 'vitest'
import { untilIdle, session } from './held-flushes.ts'
import { ScriptedAgent, until } from './scripted-agent.ts'
import { testHost } from './test-host.ts'
import type { TestHost } from './test-host.ts'
import { chat, sessionOf } from './two-client-session.ts'
import type { AnyAction } from './two-client-session.ts'
import { RawClient, expectSameStates } from './raw-client.ts'

/** A client of one protocol version that sends requests and dispatches by means of a raw client. */
export class RacingClient {
  readonly link: RawClient
  readonly clientId: string
  #ids = 0
  /** The number of the last dispatch. It continues across connections, because a repeated number means a repeated dispatch. */
  clientSeq = 0

  constructor(transport: Transport, clientId: string, version: Version) {
    this.link = new RawClient(transport, version)
    this.clientId = clientId
  }

  async open(...channels: readonly Uri[]): Promise<void> {
    const { clientId } = this
    await this.ask('initialize', { clientId, protocolVersions: [this.link.version] })
    for (const channel of channels) await this.ask('subscribe', { channel })
  }

  /** Resolves with the result, or with the code of the error. */
  async ask(method: string, params: Record<string, unknown>): Promise<unknown> {
    const id = ++this.#ids
    this.link.say({ id, method, params: { channel: 'ahp-root://', ...params } })
    await this.link.until(() => this.link.answerTo(id) !== undefined)
    const { result, error } = this.link.answerTo(id) ?? {}
    return error ? error.code : result
  }

  /** Dispatches an action and resolves with its echo or refusal. */
  async dispatch(channel: Uri, action: AnyAction): Promise<Envelope> {
    const clientSeq = ++this.clientSeq
    this.link.say({ method: 'dispatchAction', params: { channel, clientSeq, action } })
    const own = ({ origin }: Envelope) => origin?.clientId === this.clientId && origin.clientSeq === clientSeq
    await this.link.until(() => this.link.envelopes.some(own))
    return this.link.envelopes.find(own) as Envelope
  }
}

/**
 * Clients of both protocol versions in one session. During `race` the scheduler decides when each frame arrives and when each
 * flush is completed.
 */
export interface RacingClients {
  readonly all: TestHost
  readonly agent: ScriptedAgent
  readonly racers: readonly RacingClient[]
  /** Resolves at a moment that the scheduler chooses. */
  moment(): Promise<void>
  race<T extends readonly unknown[]>(...acts: { [I in keyof T]: () => Promise<T[I]> }): Promise<T>
  /** Expects that no client got an invalid message, and that each client has the same states as a new client of its version. */
  converged(): Promise<void>
}

const versions: readonly Version[] = ['1.0.0', '0.9.0']

export async function racingClients(s: Scheduler, count: number): Promise<RacingClients> {
  let racing = false
  const moment = () => s.schedule(Promise.resolve())
  const soon = (task: () => void) => void (racing ? moment().then(task) : queueMicrotask(task))
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent], soon })
  const enter = (name: string, version: Version) =>
    new RacingClient(all.wire('owner', lane(soon))[1], name, version)
  const racers = Array.from({ length: count }, (_, n) => enter(`racer ${n}`, versions[n % 2] ?? '1.0.0'))
  for (const [n, racer] of racers.entries()) {
    await racer.open()
    if (n === 0) await racer.ask('createSession', { channel: session })
    for (const channel of [session, chat]) await racer.ask('subscribe', { channel })
  }
  await until(() => sessionOf(all).lifecycle === 'ready')
  return {
    all,
    agent,
    racers,
    moment,
    async race(...acts) {
      racing = true
      const done = Promise.all(acts.map((act) => act()))
      await s.waitFor(done)
      await s.waitIdle()
      racing = false
      await untilIdle()
      return (await done) as never
    },
    async converged() {
      await untilIdle()
      for (const version of versions) {
        const fresh = enter(`fresh ${version}`, version)
        await fresh.open(session, chat)
        for (const { link } of racers)
          if (link.version === version) {
            expect([link.problems, link.pending]).toEqual([[], []])
            expectSameStates(link, fresh.link)
          }
      }
    },
  }
}

/** Delays the frames of one connection without changing their order. */
function lane(soon: Schedule): Schedule {
  const waiting: (() => void)[] = []
  return (task) => {
    waiting.push(task)
    soon(() => waiting.shift()?.())
  }
}
