import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atMost, fact, row } from '../figures.ts'
import { fill } from '../filled-folder.ts'
import { ms } from '../sides.ts'
import { BareIndex } from './bare.ts'
import { measureEchoes } from './echo.ts'
import { queryTable } from './queries.ts'

const perSession = 100

/**
 * Measures what the search costs: the disk space of the index, the time in which a host builds it, the echoes
 * meanwhile, and the time of a search relative to FTS5 alone. The argument `turns=1000000` sets the number of turns.
 */
export async function searchBench(wanted: readonly string[]): Promise<boolean> {
  const turns = Number(wanted.find((each) => each.startsWith('turns='))?.slice(6) ?? 20_000)
  if (!(turns >= perSession)) throw new Error('turns= takes a number from 100 on')
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    return await measure(folder, turns)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(folder: string, turns: number): Promise<boolean> {
  await fill(folder, { sessions: turns / perSession, turns: perSession })
  const built = await measureEchoes(folder)
  const bare = new BareIndex(folder)
  const bareMs = bare.fill(turns)
  const bytes = statSync(join(folder, 'search.db')).size
  const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`
  fact(
    `an index of ${turns} turns, built in the background`,
    `${seconds(built.ms)}, FTS5 alone ${seconds(bareMs)}`,
  )
  const found = await queryTable(folder, bare)
  const bareBytes = bare.close()
  const echoRow = (when: string, [own, plain]: (typeof built)['during']) =>
    row(`an echo ${when}, p50`, ms(own.p50, 2), atMost(1.5, own.p50 / plain.p50, 'a host without an index'))
  return [
    found,
    row(
      'the index, for each turn of 1,000 characters',
      `${(bytes / turns).toFixed(0)} bytes`,
      atMost(1.5, bytes / bareBytes, 'FTS5 alone'),
    ),
    echoRow('while the index is built', built.during),
    echoRow('afterwards', built.after),
  ].every(Boolean)
}
