import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Step } from '@atrium/host/ports/log'
import { expect, test } from 'vitest'
import { trials } from '../../../packages/protocol/test/search.ts'
import { patched } from '../plant/patch.ts'
import { bugs } from './bugs/bugs.ts'
import { Disk } from './disk.ts'
import { firstOfChanges, planOf } from './plan.ts'
import { run } from './run.ts'
import { shrink } from './ops/shrink.ts'
import { tally } from './tally.ts'

const traceOf = async (seed: number) => {
  const lines: string[] = []
  await run(planOf(seed), (line) => lines.push(line))
  return lines
}

test('[B2] the same seed gives exactly the same trace', async () => {
  const [once, again, other] = [await traceOf(7), await traceOf(7), await traceOf(8)]
  expect(once.length).toBeGreaterThan(50)
  expect(again).toEqual(once)
  expect(other).not.toEqual(once)
})

test('[B2.1] [L16] envelopes are sealed at random moments', async () => {
  const before = tally()['slices sealed'] ?? 0
  for (let seed = 1; seed <= 5; seed++) expect(await run(planOf(seed))).toBeUndefined()
  expect(tally()['slices sealed']).toBeGreaterThan(before)
})

test('[B2.1] [L20] in some runs old actions are forgotten', async () => {
  const before = tally()['checkpoints written'] ?? 0
  const plans = Array.from({ length: 100 }, (_, at) => planOf(at + 1))
  for (const plan of plans.filter(({ ops }) => ops.some(({ name }) => name === 'retention')))
    expect(await run(plan)).toBeUndefined()
  expect(tally()['checkpoints written']).toBeGreaterThan(before)
})

test('[B3] [B3.1] [I1] [I2] [I3] [I4] [I5] [I6] [I7] [I8] [I9] [I10] [I11] [I17] [I18] [I19] [I20] hold for the first seeds', async () => {
  for (let seed = 1; seed <= trials(40, 12); seed++)
    expect({ seed, violation: await run(planOf(seed)) }).toEqual({ seed, violation: undefined })
})

test('[B2.2] [B3.2] decisions happen: approvals, denials, and waits across a restart', async () => {
  const plans = Array.from({ length: 200 }, (_, at) => planOf(at + 1))
  for (const plan of plans.filter(({ theme }) => theme === 'decisions'))
    expect(await run(plan)).toBeUndefined()
  for (const what of ['asked', 'approved', 'denied', 'done', 'waits after a restart', 'answers at once'])
    expect({ what, times: tally()[what] ?? 0 }).not.toEqual({ what, times: 0 })
})

test('[B2.3] [B3.3] clients of 0.1, 0.4 and 0.6 come and go, and their choices of models wait for turns', async () => {
  const plans = Array.from({ length: 160 }, (_, at) => planOf(at + 1)).filter(({ older }) => older.length > 0)
  expect(new Set(plans.flatMap(({ older }) => older))).toEqual(new Set(['0.1.0', '0.4.0', '0.6.0']))
  for (const plan of plans)
    expect({ seed: plan.seed, violation: await run(plan) }).toEqual({ seed: plan.seed, violation: undefined })
  expect(tally()['choices that waited']).toBeGreaterThan(0)
})

test('[B2] some text of agents has no room in the state, and is stored apart', async () => {
  for (let seed = 201; seed <= 240; seed++) expect(await run(planOf(seed))).toBeUndefined()
  expect(tally()['text stored apart']).toBeGreaterThan(0)
})

test('[B2.4] [B3.4] agents and people change files, and clients undo turns, mark hunks and ask for past states', async () => {
  for (let seed = firstOfChanges; seed < firstOfChanges + 25; seed++)
    expect({ seed, violation: await run(planOf(seed)) }).toEqual({ seed, violation: undefined })
  for (const what of [
    'edits by agents',
    'edits by people during calls',
    'edits by a second host',
    'files changed by undo',
    'changesets compared',
    'end captures owed at a crash',
    'past states compared',
  ])
    expect({ what, times: tally()[what] ?? 0 }).not.toEqual({ what, times: 0 })
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
