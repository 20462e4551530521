import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Step } from '@atrium/host/ports/log'
import { expect, test } from 'vitest'
import { trials } from '../../../packages/protocol/test/search.ts'
import { patched } from '../plant/patch.ts'
import { bugs } from './bugs/bugs.ts'
import { Disk } from './disk.ts'
import { firstOfChanges, planOf } from './plan.ts'
import type { Plan } from './plan.ts'
import { run } from './run.ts'
import { shrink } from './ops/shrink.ts'
import { tally } from './tally.ts'

const traceOf = async (seed: number) => {
  const lines: string[] = []
  await run(planOf(seed), (line) => lines.push(line))
  return lines
}

/** Runs plans until each of these situations has happened. Seeds that this leaves out are run by `npm run simulate -- --seeds 1000`. */
async function runUntil(situations: readonly string[], plans: Iterable<Plan>): Promise<void> {
  const before = tally()
  const missing = () => situations.filter((what) => (tally()[what] ?? 0) === (before[what] ?? 0))
  for (const plan of plans) {
    if (missing().length === 0) break
    expect({ seed: plan.seed, violation: await run(plan) }).toEqual({ seed: plan.seed, violation: undefined })
  }
  expect(missing()).toEqual([])
}

function plansFrom(first: number, count: number): readonly Plan[] {
  return Array.from({ length: count }, (_, at) => planOf(first + at))
}

test('[B2] the same seed gives exactly the same trace', async () => {
  const [once, again, other] = [await traceOf(7), await traceOf(7), await traceOf(8)]
  expect(once.length).toBeGreaterThan(50)
  expect(again).toEqual(once)
  expect(other).not.toEqual(once)
})

test('[B2.1] [L16] envelopes are sealed at random moments', async () => {
  await runUntil(['slices sealed'], plansFrom(1, 5))
})

test('[B2.1] [L20] in some runs old actions are forgotten', async () => {
  const plans = plansFrom(1, 100).filter(({ ops }) => ops.some(({ name }) => name === 'retention'))
  await runUntil(['checkpoints written'], plans)
})

test('[B3] [B3.1] [I1] [I2] [I3] [I4] [I5] [I6] [I7] [I8] [I9] [I10] [I11] [I17] [I18] [I19] [I20] hold for the first seeds', async () => {
  for (let seed = 1; seed <= trials(40, 12); seed++)
    expect({ seed, violation: await run(planOf(seed)) }).toEqual({ seed, violation: undefined })
})

test('[B2.2] [B3.2] decisions happen: approvals, denials, and waits across a restart', async () => {
  const situations = ['asked', 'approved', 'denied', 'done', 'waits after a restart', 'answers at once']
  const plans = plansFrom(1, 200).filter(({ theme }) => theme === 'decisions')
  await runUntil(situations, plans)
})

test('[B2.3] [B3.3] clients of 0.1, 0.4 and 0.6 come and go, and their choices of models wait for turns', async () => {
  const plans = plansFrom(1, 160)
  for (const version of ['0.1.0', '0.4.0', '0.6.0'] as const)
    await runUntil(
      ['choices that waited'],
      plans.filter(({ older }) => older.includes(version)),
    )
})

test('[B2] some text of agents has no room in the state, and is stored apart', async () => {
  await runUntil(['text stored apart'], plansFrom(201, 40))
})

test('[B2.4] [B3.4] agents and people change files, and clients undo turns, mark hunks and ask for past states', async () => {
  const situations = [
    'edits by agents',
    'edits by people during calls',
    'edits by a second host',
    'files changed by undo',
    'changesets compared',
    'end captures owed at a crash',
    'past states compared',
  ]
  await runUntil(situations, plansFrom(firstOfChanges, 25))
})

test('[B4] any part of a plan is a plan', async () => {
  const plan = planOf(3)
  for (let at = 0; at < plan.ops.length; at += 9)
    expect(await run({ ...plan, ops: plan.ops.slice(at, at + 40) })).toBeUndefined()
})

test('[B4] a failing list is shrunk to the items that make it fail', async () => {
  const letters = 'the quick brown fox jumps over the lazy dog'.split('')
  const fails = async (fewer: readonly string[]) => {
    const text = fewer.join('')
    return text.includes('q') && text.lastIndexOf('z') > text.indexOf('q')
  }
  expect((await shrink(letters, fails)).join('')).toBe('qz')
  expect((await shrink(letters, fails, 3)).length).toBeLessThanOrEqual(letters.length)
})

test.each(bugs.map((bug) => [bug.name, bug] as const))('[B5] %s can be planted', (_, { patches }) => {
  for (const patch of patches) {
    const file = fileURLToPath(new URL(`../../../packages/${patch.file}`, import.meta.url))
    const text = readFileSync(file, 'utf8')
    expect(patched(`file://${file}`, text, [patch])).not.toBe(text)
  }
})

const creationStep = (seq: number): Step => ({
  created: [{ seq, channel: `c:${seq}`, kind: 'chat', state: '{}' }],
  envelopes: [],
  rows: [],
  heads: [],
  dropped: [],
  upTo: seq,
})

test('[B6] a simulated disk keeps every flushed transaction, and of the rest a prefix of whole ones', async () => {
  for (let left = 1; left <= 3; left++) {
    const disk = new Disk(() => {})
    const store = disk.open(() => true)
    for (let seq = 1; seq <= 3; seq++) {
      store.log.append(creationStep(seq))
      store.records.put(`r${seq}`, 'beside it')
      await Promise.resolve()
      if (seq > 1) continue
      const flushed = store.log.flush()
      disk.flush()
      await flushed
    }
    expect([disk.durable, disk.transactions.length]).toEqual([1, 3])
    disk.crash(left)
    const next = disk.open(() => true)
    const asked = Promise.all([1, 2, 3].map((seq) => next.log.load(`c:${seq}`)))
    const listed = next.records.list('')
    for (let n = 0; n < 9; n++) disk.answer()
    expect((await asked).filter(Boolean)).toHaveLength(left)
    expect(await listed).toHaveLength(left)
  }
})
