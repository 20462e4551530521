import { random } from './measure.ts'

/** The number of different words. Word number n is about n times as rare as the first, as in real texts. */
const vocabulary = 50_000
const syllables = ['ba', 'de', 'ki', 'lo', 'mu', 'na', 're', 'si', 'to', 'vu', 'cha', 'fre', 'gli', 'pro']

/** The word of a rank. A lower rank is a more common word. */
export function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + syllables.length; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]
  return word
}

const words = Array.from({ length: vocabulary }, (_, rank) => wordOf(rank))

function prose(count: number, next: () => number): string {
  const word = () => words[Math.floor(Math.exp(next() * Math.log(vocabulary))) - 1] ?? words[0]
  return Array.from({ length: count }, word).join(' ')
}

/** The texts that a user and an agent wrote in a turn. The same number gives the same texts. */
export function textsOfTurn(turn: number): { readonly user: string; readonly agent: string } {
  const next = random(turn + 1)
  return { user: prose(20, next), agent: prose(120, next) }
}

/** The time at which a turn began, in milliseconds since 1970. A turn begins every twenty seconds. */
export function timeOfTurn(turn: number): number {
  return Date.parse('2025-01-01T00:00:00Z') + turn * 20_000
}
