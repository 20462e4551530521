import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fact, row } from '../table.ts'
import { BareIndex } from './bare.ts'
import { textsOfTurn } from './corpus.ts'
import { measureEchoes } from './echo.ts'
import { fillStore } from './filled-store.ts'
import { queryTable } from './queries.ts'

/**
 * Measures what the search costs: the disk space of the index, the time in which a host builds it, the echoes
 * meanwhile, and the time of a search relative to FTS5 alone. The argument `turns=1000000` sets the number of turns.
 */
export async function searchBench(wanted: readonly string[]): Promise<boolean> {
  const given = wanted.find((each) => each.startsWith('turns='))?.slice(6)
  const turns = Number(given ?? 20_000)
  if (!(turns > 0)) throw new Error(`turns=${given} is no number of turns`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    return await measure(folder, turns)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(folder: string, turns: number): Promise<boolean> {
  const shown = (count: number) => count.toLocaleString('en-US')
  console.log(`\nsearch: an index of ${shown(turns)} turns, of about ${averageLength()} characters each`)
  await fillStore(folder, turns)
  const { ms, during, after } = await measureEchoes(folder)
  const bare = new BareIndex(folder)
  const bareMs = bare.fill(turns)
  const bytes = statSync(join(folder, 'search.db')).size
  const perTurn = (value: number) => `${(value / turns).toFixed(0)} bytes`
  fact(
    'built by a host in the background',
    `${(ms / 1000).toFixed(1)} s, ${shown(Math.round((turns / ms) * 1000))} turns/s`,
  )
  fact('inserted into FTS5 alone', `${(bareMs / 1000).toFixed(1)} s`)
  let met = await queryTable(folder, bare)
  console.log('\nsearch: on the disk')
  const bareBytes = bare.close()
  met = row('the index for each turn', perTurn(bytes), bytes / bareBytes, { atMost: 1.5 }) && met
  fact('all of it', `${(bytes / 1e6).toFixed(0)} MB`)
  console.log('\nsearch: echoes beside a host without an index, in turns')
  for (const [when, [own, plain]] of Object.entries({
    'while the index is built': during,
    afterwards: after,
  })) {
    const figure = `${own.p50.toFixed(2)} ms`
    met =
      row(`p50 ${when} (without: ${plain.p50.toFixed(2)} ms)`, figure, own.p50 / plain.p50, {
        atMost: 1.5,
      }) && met
    fact(`p99 ${when}`, `${own.p99.toFixed(2)} ms (without: ${plain.p99.toFixed(2)} ms), ${own.count} echoes`)
  }
  return met
}

function averageLength(): number {
  const lengths = Array.from({ length: 100 }, (_, i) => {
    const { user, agent } = textsOfTurn(i)
    return user.length + agent.length
  })
  return Math.round(lengths.reduce((sum, length) => sum + length, 0) / lengths.length)
}
