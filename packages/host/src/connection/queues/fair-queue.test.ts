import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { testWorld } from '../../../test/world.ts'
import { FairQueue } from './fair-queue.ts'
import type { Lane } from './lane.ts'

/** FairQueue whose processed frames are recorded. The turns after the first are run by `next`. */
function queueOf(given: Partial<typeof limits> = {}) {
  const tasks: (() => void)[] = []
  const world = { ...testWorld(), later: (_: number, task: () => void) => (tasks.push(task), () => {}) }
  const log = new Backlog()
  const queue = new FairQueue(world, { ...limits, ...given }, log)
  const done: string[] = []
  const events: string[] = []
  const lane = (name: string, principal = 'owner') => {
    const owner = {
      principal,
      busy: false,
      process: (frame: string): void => {
        done.push(`${name} ${frame.trim()}`)
      },
      pause: () => void events.push(`${name} paused`),
      resume: () => void events.push(`${name} resumed`),
      checkLine: () => {},
    }
    const made: Lane = queue.lane(owner)
    return Object.assign(made, { owner })
  }
  /** Runs the next round. Returns the frames that were processed in it. */
  const next = () => {
    done.length = 0
    for (const task of tasks.splice(0)) task()
    return [...done]
  }
  const rest = () => {
    const all: string[] = []
    while (tasks.length > 0) all.push(...next())
    return all
  }
  return { lane, done, events, next, rest, tasks, log }
}

type TestLane = ReturnType<ReturnType<typeof queueOf>['lane']>

/** The actions that wait for the disk. `flush` makes them durable. */
class Backlog {
  backlog = 0
  #waiting: (() => void)[] = []

  progress(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async flush(): Promise<void> {
    this.backlog = 0
    for (const resolve of this.#waiting.splice(0)) resolve()
    await Promise.resolve()
  }
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `${n}`)
const by = (done: readonly string[], name: string) => done.filter((each) => each.startsWith(`${name} `))

test('[H4] [H4.5] a quiet link is served at once, and needs no timer', () => {
  const { lane, done, tasks } = queueOf()
  const ann = lane('ann')
  for (const frame of numbered(5)) ann.arrive(frame)
  expect([done.length, ann.length]).toEqual([5, 0])
  expect(tasks.length).toBeLessThanOrEqual(1)
})

test('[H4] [H4.5] I13: a link that floods gets one round at a time, and a quiet link is served between, at once', () => {
  const { lane, done, next } = queueOf()
  const flood = lane('flood')
  const ann = lane('ann')
  for (const frame of numbered(10_000)) flood.arrive(frame)
  expect(done.length).toBeLessThan(20)
  expect(next().length).toBeLessThan(70)
  ann.arrive('first')
  flood.arrive('another')
  for (let n = 0; n < 15; n++) {
    expect(next().length).toBeLessThan(20)
    ann.arrive(`${n}`)
    expect(done.at(-1)).toBe(`ann ${n}`)
  }
})

test.each([10, 100])(
  '[H4] [H4.5] I13: %i links that flood share a round, and a quiet link is served at once',
  (count) => {
    const { lane, done, next } = queueOf()
    const floods = numbered(count).map((name) => lane(name))
    const ann = lane('ann')
    for (const frame of numbered(200)) for (const flood of floods) flood.arrive(frame)
    next()
    for (let n = 0; n < 15; n++) {
      expect(next().length).toBeLessThan(20)
      ann.arrive(`${n}`)
      expect(done.at(-1)).toBe(`ann ${n}`)
    }
  },
)

test('[H4] [H4.8] I13: a link that never had to be stopped has half a round, however many links flood', () => {
  const { lane, done, next } = queueOf()
  const floods = numbered(100).map((name) => lane(name))
  const ann = lane('ann')
  for (let n = 0; n < 500; n++) {
    for (const flood of floods) while (flood.length <= limits.waitingLength) flood.arrive('more')
    next()
    for (let each = 0; each < 6; each++) {
      ann.arrive(`${n}.${each}`)
      expect(done.at(-1)).toBe(`ann ${n}.${each}`)
    }
  }
})

test('[H4] [H4.8] a link that floods gets no more than each of ten links that never had to be stopped', () => {
  const { lane, done, next } = queueOf()
  const flood = lane('flood')
  const others = numbered(10).map((name) => lane(`quiet${name}`))
  const served = numbered(500).flatMap(() => {
    while (flood.length <= limits.waitingLength) flood.arrive('more')
    for (const other of others) while (other.length < limits.waitingLength / 8) other.arrive('x')
    return [...done, ...next()]
  })
  expect(others.some(({ bulk }) => bulk)).toBe(false)
  expect(by(served, 'flood').length / served.length).toBeLessThan(0.12)
})

test('[H4] [H4.8] a link that had to be stopped counts as quiet again when it has saved half a round', () => {
  const { lane, next, rest } = queueOf()
  const [ann, ben, flood] = [lane('ann'), lane('ben'), lane('flood')]
  while (ann.length <= limits.waitingLength) ann.arrive('more')
  expect(ann.bulk).toBe(true)
  while (ann.length > 0) next()
  expect(ann.bulk).toBe(true)
  rest()
  expect(ann.bulk).toBe(false)
  // One of three links floods, so each gets a third.
  while (flood.length <= limits.waitingLength) flood.arrive('more')
  for (const frame of numbered(100)) for (const each of [ann, ben]) each.arrive(frame)
  const served = numbered(10).flatMap(() => next())
  expect(by(served, 'flood').length / served.length).toBeGreaterThan(0.25)
  expect(by(served, 'flood').length / served.length).toBeLessThan(0.42)
})

test('[R6] the frames of a link stay in order, and none is lost', () => {
  const { lane, done, rest } = queueOf()
  const lanes = ['a', 'b', 'c'].map((name) => lane(name))
  for (const frame of numbered(1000)) for (const each of lanes) each.arrive(frame)
  const all = [...done, ...rest()]
  for (const name of ['a', 'b', 'c']) expect(by(all, name)).toEqual(numbered(1000).map((n) => `${name} ${n}`))
  expect(lanes.map(({ length }) => length)).toEqual([0, 0, 0])
})

test('[H4] [H4.5] principals share a round, however many links each has', () => {
  const { lane, next } = queueOf()
  const many = numbered(20).map((name) => lane(name, 'many'))
  const one = lane('one', 'one')
  for (const frame of numbered(2000)) for (const each of [...many, one]) each.arrive(frame)
  next()
  const served = numbered(20).flatMap(() => next())
  const share = by(served, 'one').length / served.length
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.65)
})

test('[H4] [H4.10] what a frame causes is paid for: a link with costly frames gets fewer', () => {
  const { lane, next } = queueOf()
  const cheap = lane('cheap')
  const costly = lane('costly')
  const { process } = costly.owner
  costly.owner.process = (frame) => {
    process(frame)
    costly.charge(10 * 512)
  }
  for (const frame of numbered(3000)) for (const each of [cheap, costly]) each.arrive(frame)
  next()
  const served = numbered(20).flatMap(() => next())
  const ratio = by(served, 'cheap').length / by(served, 'costly').length
  expect(ratio).toBeGreaterThan(8)
  expect(ratio).toBeLessThan(14)
})

test('[H4.10] [S-57 roundLength] at 32,768 characters frames are processed in one round', () =>
  inRound(32_768, false, true))
test('[S-57 roundLength] past 32,768 a frame waits for a later round', () => inRound(32_769, false, false))
test('[H4.9] [S-57 sharedRoundLength] at 8,192 characters, while several links send, too', () =>
  inRound(8192, true, true))
test('[S-57 sharedRoundLength] past 8,192 a frame waits for a later round', () => inRound(8193, true, false))

test('[H4.9] rounds are long again when one link has sent 512 frames in a row', () => {
  const longAfter = (count: number) => {
    const { lane, next } = queueOf()
    const [ann, bob] = [lane('ann'), lane('bob')]
    for (const each of [bob, ann, bob, ann]) each.arrive('1')
    for (const frame of numbered(count - 2)) ann.arrive(frame)
    while (ann.length > 0) next()
    next()
    return takesInRound(ann, next, limits.roundLength)
  }
  expect([511, 512].map(longAfter)).toEqual([false, true])
})

/** Processes frames whose cost is `cost`, and then another one. */
function inRound(cost: number, shared: boolean, processed: boolean): void {
  const { lane, next } = queueOf()
  const ann = lane('ann')
  for (const frame of numbered(600)) ann.arrive(frame)
  if (shared) for (const each of [lane('bob'), ann]) each.arrive('1')
  while (ann.length > 0) next()
  next()
  expect(takesInRound(ann, next, cost)).toBe(processed)
}

/** Whether a frame whose cost is `cost` and another one are processed in one round. */
function takesInRound(ann: TestLane, next: () => unknown, cost: number): boolean {
  ann.charge(ann.allowance)
  for (const frame of ['first', 'second']) ann.arrive(frame)
  ann.owner.process = () => ann.charge(cost - 1 - (512 + 'first'.length / 8))
  next()
  return ann.length === 0
}

describe('[H4] [H4.7] I13: while much waits for the disk', () => {
  /** Lets a link wait with a backlog of this length. Returns the frames of the next round, before and after a flush. */
  async function backlogOf(length: number, shared: boolean) {
    const { lane, done, next, rest, log } = queueOf()
    const ann = lane('ann')
    for (const frame of numbered(3000)) ann.arrive(frame)
    if (shared) for (const each of [lane('other'), ann]) each.arrive('1')
    while (ann.length > 512 * 200) next()
    log.backlog = length
    const before = next().length
    const quiet = lane('quiet')
    quiet.arrive('1')
    const passed = done.includes('quiet 1')
    await log.flush()
    return { before, passed, after: rest().length }
  }
  const served = { before: expect.any(Number), passed: true, after: expect.any(Number) }
  const held = { before: 0, passed: true, after: expect.any(Number) }

  test('[S-57 aheadLength] at 131,072 the only link that sends is served', async () => {
    const { before, ...others } = await backlogOf(131_072, false)
    expect({ before, ...others }).toEqual(served)
    expect(before).toBeGreaterThan(0)
  })
  test('[S-57 aheadLength] past 131,072 it waits for the flush, and another link passes', async () => {
    const outcome = await backlogOf(131_073, false)
    expect(outcome).toEqual(held)
    expect(outcome.after).toBeGreaterThan(0)
  })
  test('[S-57 sharedAheadLength] at 16,384 links that send at the same time are served', async () => {
    const { before, ...others } = await backlogOf(16_384, true)
    expect({ before, ...others }).toEqual(served)
    expect(before).toBeGreaterThan(0)
  })
  test('[S-57 sharedAheadLength] past 16,384 they wait for the flush, and another link passes', async () => {
    const outcome = await backlogOf(16_385, true)
    expect(outcome).toEqual(held)
    expect(outcome.after).toBeGreaterThan(0)
  })
})

test('[H4] [H4.6] the host reads again from one link in each round', () => {
  const { lane, events, next, rest } = queueOf()
  const lanes = ['a', 'b', 'c'].map((name) => lane(name))
  for (const each of lanes) for (const frame of numbered(160)) each.arrive(frame)
  expect(events).toEqual(['a paused', 'b paused', 'c paused'])
  const resumed: number[] = []
  while (events.length < 6) {
    const before = events.length
    next()
    resumed.push(events.length - before)
  }
  expect(Math.max(...resumed)).toBe(1)
  rest()
  expect(lanes.map(({ length }) => length)).toEqual([0, 0, 0])
})

test('[S-57 waitingLength] at 65,536 characters that wait a link is still read', () => waiting(65_536, []))
test('[H4.6] [S-57 waitingLength] past 65,536 it is not read until half of them are processed', () =>
  waiting(65_537, ['ann paused', 'ann resumed']))

function waiting(length: number, expected: readonly string[]): void {
  const { lane, events, rest } = queueOf()
  const ann = lane('ann')
  let left: number | undefined
  const { resume } = ann.owner
  ann.owner.resume = () => {
    left = ann.length
    resume()
  }
  ann.charge(ann.allowance)
  for (const size of [16_384, 16_384, 16_384, length - 3 * 16_384]) ann.arrive(' '.repeat(size - 512))
  expect(ann.length).toBe(length)
  expect(events).toEqual(expected.slice(0, 1))
  ann.owner.process = () => ann.charge(limits.roundLength)
  rest()
  expect(events).toEqual(expected)
  // One of four frames is left: with two of them, more than half would wait.
  if (expected.length > 0) expect(left).toBe(length - 3 * 16_384)
}

test('[H4] [H4.11] a ping passes the frames that wait', () => {
  const { lane, done } = queueOf()
  const ann = lane('ann')
  ann.owner.busy = true
  ann.arrive('{"jsonrpc":"2.0","method":"x"}')
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}'
  ann.arrive(ping)
  ann.arrive(ping.padEnd(128))
  expect(done).toEqual([`ann ${ping}`])
})

test('[H4] [H5.4] H5: a busy link waits and goes on; the frames of an ended link are dropped', () => {
  const { lane, done, rest } = queueOf()
  const ann = lane('ann')
  const bob = lane('bob')
  for (const each of [ann, bob]) each.owner.busy = true
  for (const each of [ann, bob]) each.arrive('1')
  expect([...done, ...rest()]).toEqual([])
  for (const each of [ann, bob]) each.owner.busy = false
  bob.end()
  for (const each of [ann, bob]) each.wake()
  expect(rest()).toEqual(['ann 1'])
})
