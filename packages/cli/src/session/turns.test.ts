import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Turn } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Racer } from '../../../host/test/racer.ts'
import { sameAsHost } from '../../../host/test/witness.ts'
import { Life } from '../../test/life.ts'

const session = 'ahp-session:/killed'
const chat = defaultChatUri(session)
const asked = 'long 2000'

let home = ''
let life: Life
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'atrium-turns-'))
  life = await Life.begin(home)
})
afterEach(async () => {
  await life.kill()
  rmSync(home, { recursive: true, force: true })
})

/** Two windows on one session, of both generations. */
async function enter(): Promise<[ann: Racer, ben: Racer]> {
  const ann = new Racer(await life.dial(), 'ann', '1.0.0')
  await ann.open()
  await ann.ask('createSession', { channel: session })
  const ben = new Racer(await life.dial(), 'ben', '0.9.0')
  await ben.open()
  for (const racer of [ann, ben])
    for (const channel of [session, chat]) await racer.ask('subscribe', { channel })
  return [ann, ben]
}

async function comeBack(before: Racer): Promise<Racer> {
  const { clientId, link } = before
  const after = new Racer(await life.dial(), clientId, link.version)
  after.clientSeq = before.clientSeq
  after.link.inherit(link)
  after.link.pending.length = 0
  const params = { clientId, lastSeenServerSeq: link.lastSeen, subscriptions: [session, chat] }
  await after.ask('reconnect', params)
  return after
}

const started = (turnId: string) => ({
  type: 'chat/turnStarted',
  turnId,
  startedAt: new Date().toISOString(),
  message: { text: asked, origin: { kind: 'user' } },
})

const turnOf = ({ link }: Racer, id: string): Turn | undefined =>
  link.chat(chat).turns.find((turn) => turn.id === id)
const ended = ({ link }: Racer, id: string) =>
  link.until(
    () => link.chat(chat).activeTurn === undefined && link.chat(chat).turns.some((turn) => turn.id === id),
  )
/** How much of the turn in progress has been heard. */
const heard = ({ link }: Racer) => textOf(link.chat(chat).activeTurn?.responseParts ?? []).length
const textOf = (parts: Turn['responseParts']) =>
  parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('')

/** Whoever went on has what a newcomer of its generation is handed. */
async function converged(racers: readonly Racer[]): Promise<void> {
  for (const { link } of racers) {
    const fresh = new Racer(await life.dial(), `fresh ${link.version}`, link.version)
    await fresh.open(session, chat)
    expect([link.problems, link.pending]).toEqual([[], []])
    sameAsHost(link, fresh.link)
    fresh.link.transport.close()
  }
}

test('[H9] F-01: killed at any step of a turn, both windows come back, and what goes on says what an unbroken one says', async () => {
  let [ann, ben] = await enter()
  await ann.wish(chat, started('whole'))
  await ended(ann, 'whole')
  const whole = textOf(turnOf(ann, 'whole')?.responseParts ?? [])
  expect(whole.split(' ')).toHaveLength(2000)
  const seen = new Set<string | undefined>()
  // After so many characters were heard of it; the last is killed twice.
  for (const [turnId, ...steps] of [
    ['t0', 0],
    ['t1', 1],
    ['t2', whole.length / 4],
    ['t3', 100, whole.length / 2],
  ] as const) {
    await ann.wish(chat, started(turnId))
    for (const step of steps) {
      await ben.link.until(() => heard(ben) >= step || turnOf(ben, turnId) !== undefined)
      await life.kill()
      life = await Life.begin(home)
      ;[ann, ben] = [await comeBack(ann), await comeBack(ben)]
      for (const racer of [ann, ben]) await ended(racer, turnId)
      const { state, responseParts = [] } = turnOf(ann, turnId) ?? {}
      seen.add(state)
      if (state !== 'error') continue
      expect(responseParts.at(-1)).toMatchObject({ error: { errorType: 'interrupted' }, resumable: true })
      expect(whole.startsWith(textOf(responseParts))).toBe(true)
      const { rejectionReason } = await ann.wish(chat, { type: 'chat/turnResume', turnId })
      expect(rejectionReason).toBeUndefined()
    }
    for (const racer of [ann, ben]) await ended(racer, turnId)
    expect(turnOf(ann, turnId)).toMatchObject({ state: 'complete' })
    expect(textOf(turnOf(ben, turnId)?.responseParts ?? [])).toBe(whole)
    await converged([ann, ben])
  }
  expect(seen).toContain('error')
})
