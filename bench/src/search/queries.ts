import { sqliteSearch } from '@atrium/adapters/search/sqlite'
import { median } from '../percentiles.ts'
import { inTurns, ms, timed } from '../sides.ts'
import { atMost, row } from '../figures.ts'
import type { BareIndex } from './bare.ts'
import { wordOf } from '../corpus.ts'

interface Case {
  readonly name: string
  /** The terms. A term that ends in a star matches all words that begin with it. A term with a space is a phrase. */
  readonly terms: readonly string[]
}

const cases: readonly Case[] = [
  { name: 'a common word', terms: [wordOf(0)] },
  { name: 'a rare word', terms: [wordOf(20_000)] },
  { name: 'two words', terms: [wordOf(3), wordOf(300)] },
  { name: 'a phrase', terms: [`${wordOf(0)} ${wordOf(1)}`] },
  { name: 'a beginning of four letters', terms: [`${wordOf(4000).slice(0, 4)}*`] },
  { name: 'a word that nobody wrote', terms: ['xylophone'] },
]
const rounds = 200

/** Measures searches in the index of a data folder, and the same searches by FTS5 alone in the same thread. */
export async function queryTable(folder: string, bare: BareIndex): Promise<boolean> {
  const index = sqliteSearch(folder, { readOnly: true })
  let met = true
  for (const { name, terms } of cases) {
    const query = { terms: terms.map(termOf), limit: 20 }
    const match = terms
      .map((term) => `"${term.replace(/\*$/, '')}"${term.endsWith('*') ? '*' : ''}`)
      .join(' AND ')
    const { found } = await index.find(query)
    if (bare.find(match) !== found.length) throw new Error(`${name}: ${found.length} texts`)
    const times = await inTurns(
      { rounds },
      { ours: () => timed(() => index.find(query)), bare: () => timed(() => bare.find(match)) },
    )
    // A search of the host goes to another thread and back, which takes about half a millisecond on a busy machine.
    // So a search by FTS5 alone counts as half a millisecond even if it was faster.
    const [ours, theirs] = [median(times.ours), Math.max(median(times.bare), 0.5)]
    met = row(`one page of ${name}`, ms(ours, 2), atMost(4, ours / theirs, 'FTS5 alone, or 0.5 ms')) && met
  }
  await index.close()
  return met
}

function termOf(term: string): { readonly text: string; readonly prefix: boolean } {
  return { text: term.replace(/\*$/, ''), prefix: term.endsWith('*') }
}
