import type { OutputPart } from '../src/terminals/output-part.ts'

/**
 * A case: the output of a program (`in`), its sanitized form (`out`, by default the same text), and the other parts that the
 * output gives (`also`).
 */
export interface EscapeCase {
  readonly name: string
  readonly in: string
  readonly out?: string
  readonly also?: readonly Exclude<OutputPart, { readonly data: string }>[]
}

/** Returns cases of texts that pass unchanged. */
export function kept(name: string, texts: readonly string[]): readonly EscapeCase[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: text }))
}

/** Returns cases of texts that are removed. */
export function removed(name: string, texts: readonly string[]): readonly EscapeCase[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: `a${text}b`, out: 'ab' }))
}

/** Returns the case of a sequence that is removed from the output and reported as a query. */
export function query(name: string, text: string, sequence = text): EscapeCase {
  return { name, in: `a${text}b`, out: 'ab', also: [{ query: sequence }] }
}

/** Returns one text for each word: the opening, the word and the end. The character ␠ in a word stands for a space. */
export function between(opening: string, words: string, end = ''): readonly string[] {
  const all = words.split(/\s+/).filter((word) => word !== '')
  return all.map((word) => `${opening}${word.replaceAll('␠', ' ')}${end}`)
}
