import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import { diskUsage } from '@atrium/adapters/store/sqlite/usage'
import type { LogStore, Step, StoredEnvelope } from '@atrium/host/ports/log'
import { chatUri } from '@atrium/protocol/uri'
import { percentile } from '../percentiles.ts'
import { check, fact } from '../table.ts'

const words =
  'the quick brown fox jumps over a lazy dog while an agent writes actions into one durable ordered log that every client folds'.split(
    ' ',
  )
/** Text that looks like prose to a compressor: the words come in no order. */
const prose = Array.from({ length: 30_000 }, wordAt).join(' ')

function wordAt(_: unknown, i: number): string {
  const mixed = Math.imul(Math.imul(i + 1, 0x9e3779b1) ^ (i >>> 3), 0x85ebca6b) >>> 8
  return words[mixed % words.length] ?? ''
}

const chat = chatUri('bench')
const other = chatUri('other')
/** The size that an empty store may have: its tables, and the pages of the file that stay free for the next writes. */
const emptyBytes = 1.3 * 1024 * 1024

/** The actions that a store has most of. `byClient`: a client dispatched them; otherwise the host appended them. */
const loads: readonly { name: string; count: number; action: (i: number) => object; byClient: boolean }[] = [
  {
    name: 'edits of a draft',
    count: 3000,
    action: (i) => ({
      type: 'chat/draftChanged',
      draft: { text: prose.slice(0, i * 5).slice(-1900), origin: { kind: 'user' } },
    }),
    byClient: true,
  },
  { name: 'deltas', count: 20_000, action: delta, byClient: false },
  { name: 'deltas of a long session', count: 200_000, action: delta, byClient: false },
]

function delta(i: number): object {
  const content = prose.slice((i * 7) % 140_000, ((i * 7) % 140_000) + 6)
  return { type: 'chat/delta', turnId: '7c6f3ab4-9a9f-4f0c-8d5e-7b8b4b6c7a11', partId: 'p1', content }
}

/**
 * Measures the bytes that an action takes on the disk: as it is written, after the store has compressed it (sealed
 * it), and after its session is disposed of.
 */
export async function diskBench(wanted: readonly string[]): Promise<boolean> {
  let met = true
  for (const load of loads) {
    if (wanted.length > 0 && !wanted.some((name) => load.name.includes(name))) continue
    console.log(`\ndisk: ${load.count.toLocaleString('en-US')} ${load.name}`)
    const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
    try {
      met = (await measure(folder, load)) && met
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return met
}

async function measure(folder: string, load: (typeof loads)[number]): Promise<boolean> {
  const { count } = load
  let seq = await fill(folder, load)
  const written = actionBytes(folder)
  fact('written', perAction(written, count))

  const { log } = await openSqlite(folder)
  const upTo = seq
  const alone = await echoes(log, () => seq++)
  const during = await echoes(log, () => seq++, sealAndShrink(log, upTo))
  log.append(step({ dropped: [{ channel: other, seq: seq++ }] }))
  await log.flush()
  await log.close()
  const sealed = actionBytes(folder)
  const met = [check('sealed, goal a tenth of it', perAction(sealed, count), sealed <= written / 10)]
  fact('an echo waits for the disk (median, p99)', alone)
  fact('an echo waits for the disk while sealing', during)

  const again = await openSqlite(folder)
  again.log.append(step({ dropped: [{ channel: chat, seq: seq++ }] }))
  await again.log.flush()
  while (await again.log.shrink());
  await again.log.close()
  const left = statSync(join(folder, 'atrium.db')).size
  met.push(check('the file after disposing, goal an empty store', megabytes(left), left <= emptyBytes))
  return !met.includes(false)
}

/** Writes the actions of a load to a new store. Returns the next sequence number. */
async function fill(folder: string, { count, action, byClient }: (typeof loads)[number]): Promise<number> {
  const { log } = await openSqlite(folder)
  let seq = 1_800_000_000_000_000
  const created = [chat, other].map((channel) => ({ channel, seq: seq++, kind: 'chat', state: '{}' }))
  log.append(step({ created }))
  let length = 0
  for (let i = 0; i < count; i++) {
    const text = JSON.stringify(action(i))
    length += text.length
    const origin = byClient ? { origin: { clientId: 'bench', clientSeq: i + 1, principal: 'owner' } } : {}
    log.append(step({ envelopes: [{ seq: seq++, channel: chat, action: text, ...origin }] }))
    if (i % 500 === 0) await log.flush()
  }
  await log.flush()
  await log.close()
  fact('as JSON', perAction(length, count))
  return seq
}

/** The bytes of all actions in a closed store, compressed (sealed) or not, with their indexes. */
function actionBytes(folder: string): number {
  const parts = diskUsage(folder).parts.filter(({ part }) => part.endsWith('actions'))
  return parts.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function sealAndShrink(log: LogStore, upTo: number): Promise<void> {
  for (let more = true; more;) ({ more } = await log.seal(chat, upTo, 1))
  while (await log.shrink());
}

/**
 * Appends and flushes single actions, at least 50, until `work` is done. Returns the median and the p99 of the flush
 * times as text.
 */
async function echoes(
  log: LogStore,
  next: () => number,
  work: Promise<void> = Promise.resolve(),
): Promise<string> {
  const times: number[] = []
  let done = false
  const ended = work.then(() => (done = true))
  while (!done || times.length < 50) {
    const envelope: StoredEnvelope = { seq: next(), channel: other, action: '{"type":"chat/draftChanged"}' }
    const began = performance.now()
    log.append(step({ envelopes: [envelope] }))
    await log.flush()
    times.push(performance.now() - began)
  }
  await ended
  const sorted = times.toSorted((a, b) => a - b)
  return `${percentile(sorted, 50).toFixed(1)} ms, ${percentile(sorted, 99).toFixed(1)} ms`
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`

const perAction = (bytes: number, count: number) =>
  `${megabytes(bytes)}, ${(bytes / count).toFixed(1)} bytes each`

function step(parts: Partial<Step>): Step {
  return { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0, ...parts }
}
