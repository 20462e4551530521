import type { OutputPart } from '../src/terminals/output-part.ts'

/** Output of a program (`in`), its sanitized form (`out`; default: unchanged), and the other parts it contains (`also`). */
export interface EscapeCase {
  readonly name: string
  readonly in: string
  readonly out?: string
  readonly also?: readonly Exclude<OutputPart, { readonly data: string }>[]
}

/** Texts that pass unchanged. */
export function kept(name: string, texts: readonly string[]): readonly EscapeCase[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: text }))
}

/** Texts that are removed. */
export function removed(name: string, texts: readonly string[]): readonly EscapeCase[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: `a${text}b`, out: 'ab' }))
}

/** A sequence that is removed and gives a query. */
export function query(name: string, text: string, sequence = text): EscapeCase {
  return { name, in: `a${text}b`, out: 'ab', also: [{ query: sequence }] }
}

/** One text for each word: opening, word, end. A space inside a word is written as ␠. */
export function between(opening: string, words: string, end = ''): readonly string[] {
  const all = words.split(/\s+/).filter((word) => word !== '')
  return all.map((word) => `${opening}${word.replaceAll('␠', ' ')}${end}`)
}
