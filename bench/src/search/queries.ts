import { sqliteSearch } from '@atrium/adapters/search/sqlite'
import type { SearchQuery } from '@atrium/host/ports/search-index'
import { spread } from '../percentiles.ts'
import { check, row } from '../table.ts'
import type { BareIndex } from './bare.ts'
import { wordOf } from './corpus.ts'

interface Case {
  readonly name: string
  /** The terms. A term that ends in a star matches all words that begin with it. A term with a space is a phrase. */
  readonly terms: readonly string[]
  readonly filter?: Partial<SearchQuery>
}

const cases: readonly Case[] = [
  { name: 'a common word', terms: [wordOf(0)] },
  { name: 'a rare word', terms: [wordOf(20_000)] },
  { name: 'two words', terms: [wordOf(3), wordOf(300)] },
  { name: 'a phrase', terms: [`${wordOf(0)} ${wordOf(1)}`] },
  { name: 'a beginning of four letters', terms: [`${wordOf(4000).slice(0, 4)}*`] },
  { name: 'a word that nobody wrote', terms: ['xylophone'] },
]
/** Searches with filters. A plain FTS5 table has neither folders nor times, so they are compared with the first case. */
const filtered: readonly Case[] = [
  { name: 'a common word in one of 50 folders', terms: [wordOf(0)], filter: { folder: '/work/project-7' } },
  { name: 'a common word in no folder', terms: [wordOf(0)], filter: { folder: '/none' } },
  {
    name: 'a common word of an early day',
    terms: [wordOf(0)],
    filter: { until: Date.parse('2025-01-02T00:00:00Z') },
  },
]
const rounds = 200

/** Measures searches in the index of a data folder, and the same searches by FTS5 alone. Returns whether the goals were met. */
export async function queryTable(folder: string, bare: BareIndex): Promise<boolean> {
  console.log('\nsearch: one page of 20, beside FTS5 alone in the same thread')
  const index = sqliteSearch(folder, { readOnly: true })
  const medians: number[] = []
  let met = true
  for (const { name, terms } of cases) {
    const query = { terms: terms.map(termOf), limit: 20 }
    const match = terms
      .map((term) => `"${term.replace(/\*$/, '')}"${term.endsWith('*') ? '*' : ''}`)
      .join(' AND ')
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = performance.now()
      const { found } = await index.find(query)
      ours.push(performance.now() - before)
      const bareBefore = performance.now()
      const count = bare.find(match)
      theirs.push(performance.now() - bareBefore)
      if (count !== found.length) throw new Error(`${name}: ${found.length} texts instead of ${count}`)
    }
    const [own, other] = [spread(ours), spread(theirs)]
    medians.push(own.p50)
    // A search of the host goes to another thread and back, which takes about half a millisecond on a busy machine.
    // So a search by FTS5 alone counts as half a millisecond even if it was faster.
    const ratio = own.p50 / Math.max(other.p50, 0.5)
    const figure = `${own.p50.toFixed(2)} ms, p99 ${own.p99.toFixed(2)} ms`
    met =
      row(`${name} (alone: ${other.p50.toFixed(2)}, p99 ${other.p99.toFixed(2)} ms)`, figure, ratio, {
        atMost: 4,
      }) && met
  }
  for (const { name, terms, filter } of filtered) {
    const times: number[] = []
    for (let round = 0; round < 20; round++) {
      const before = performance.now()
      await index.find({ terms: terms.map(termOf), limit: 20, ...filter })
      times.push(performance.now() - before)
    }
    const { p50, p99 } = spread(times)
    const ratio = p50 / Math.max(medians[0] ?? 0, 0.5)
    const figure = `${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
    met =
      check(name, `${figure}  ${ratio.toFixed(2)}x without the filter  goal at most 10x`, ratio <= 10) && met
  }
  await index.close()
  return met
}

function termOf(term: string): { readonly text: string; readonly prefix: boolean } {
  return { text: term.replace(/\*$/, ''), prefix: term.endsWith('*') }
}
