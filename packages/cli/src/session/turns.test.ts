import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Turn } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RacingClient } from '../../../host/test/racing-clients.ts'
import { expectSameStates } from '../../../host/test/raw-client.ts'
import { HostProcess } from '../../test/host-process.ts'

const session = 'ahp-session:/killed'
const chat = defaultChatUri(session)
const fast = 'long 2000'
/** One word each second: the host is killed in the middle, however late this process sees the first word. */
const slow = 'slow 8'

let home = ''
let host: HostProcess
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-turns-'))
  host = await HostProcess.start(home)
})
afterEach(async () => {
  await host.kill()
  rmSync(home, { recursive: true, force: true })
})

/** Connects two clients to one session, one per protocol version. */
async function connectBoth(): Promise<[ann: RacingClient, ben: RacingClient]> {
  const ann = new RacingClient(await host.dial(), 'ann', '1.0.0')
  await ann.open()
  await ann.ask('createSession', { channel: session })
  const ben = new RacingClient(await host.dial(), 'ben', '0.9.0')
  await ben.open()
  for (const racer of [ann, ben])
    for (const channel of [session, chat]) await racer.ask('subscribe', { channel })
  return [ann, ben]
}

async function reconnect(before: RacingClient): Promise<RacingClient> {
  const { clientId, link } = before
  const after = new RacingClient(await host.dial(), clientId, link.version)
  after.clientSeq = before.clientSeq
  after.link.inherit(link)
  after.link.pending.length = 0
  const params = { clientId, lastSeenServerSeq: link.lastSeen, subscriptions: [session, chat] }
  await after.ask('reconnect', params)
  return after
}

const started = (turnId: string, text: string) => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt: new Date().toISOString(),
  message: { text, origin: { kind: 'user' } },
})

const turnOf = ({ link }: RacingClient, id: string): Turn | undefined =>
  link.chat(chat).turns.find((turn) => turn.id === id)
const ended = ({ link }: RacingClient, id: string) =>
  link.until(
    () => link.chat(chat).activeTurn === undefined && link.chat(chat).turns.some((turn) => turn.id === id),
  )
/** The length of the text of the active turn that the client has received. */
const received = ({ link }: RacingClient) => textOf(link.chat(chat).activeTurn?.responseParts ?? []).length
const textOf = (parts: Turn['responseParts']) =>
  parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('')

/** Checks that each client has the same state as a new client of its protocol version. */
async function expectConverged(racers: readonly RacingClient[]): Promise<void> {
  for (const { link } of racers) {
    const fresh = new RacingClient(await host.dial(), `fresh ${link.version}`, link.version)
    await fresh.open(session, chat)
    expect([link.problems, link.pending]).toEqual([[], []])
    expectSameStates(link, fresh.link)
    fresh.link.transport.close()
  }
}

test('[H9] F-01: after a kill at any point of a turn both clients reconnect, and the resumed turn has the text of an uninterrupted one', async () => {
  let [ann, ben] = await connectBoth()
  await ann.dispatch(chat, started('whole', fast))
  await ended(ann, 'whole')
  const long = textOf(turnOf(ann, 'whole')?.responseParts ?? [])
  const words = long.split(' ')
  expect(words).toHaveLength(2000)
  const states = new Map<string, string | undefined>()
  // Each row: a turn, its message, and the numbers of received characters after which the host is killed. In t3 it is
  // killed twice.
  for (const [turnId, text, ...steps] of [
    ['t0', fast, 0],
    ['t1', fast, 1],
    ['t2', fast, long.length / 4],
    ['t3', fast, 100, long.length / 2],
    ['t4', slow, 1],
  ] as const) {
    const whole = text === fast ? long : words.slice(0, 8).join(' ')
    await ann.dispatch(chat, started(turnId, text))
    for (const step of steps) {
      await ben.link.until(() => received(ben) >= step || turnOf(ben, turnId) !== undefined)
      await host.kill()
      host = await HostProcess.start(home)
      ;[ann, ben] = [await reconnect(ann), await reconnect(ben)]
      for (const racer of [ann, ben]) await ended(racer, turnId)
      const { state, responseParts = [] } = turnOf(ann, turnId) ?? {}
      states.set(turnId, state)
      if (state !== 'error') continue
      expect(responseParts.at(-1)).toMatchObject({ error: { errorType: 'interrupted' }, resumable: true })
      expect(whole.startsWith(textOf(responseParts))).toBe(true)
      const { rejectionReason } = await ann.dispatch(chat, { type: 'chat/turnResume', turnId })
      expect(rejectionReason).toBeUndefined()
    }
    for (const racer of [ann, ben]) await ended(racer, turnId)
    expect(turnOf(ann, turnId)).toMatchObject({ state: 'complete' })
    expect(textOf(turnOf(ben, turnId)?.responseParts ?? [])).toBe(whole)
    await expectConverged([ann, ben])
  }
  // A fast turn may be over before it is killed.
  expect(states.get('t4')).toBe('error')
})
