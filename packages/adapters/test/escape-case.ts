import type { Piece } from '../src/terminals/output-part.ts'

/** What is written, what of it is shown, and what else it means. Where `out` is absent it is shown as it was written. */
export interface Escape {
  readonly name: string
  readonly in: string
  readonly out?: string
  readonly also?: readonly Exclude<Piece, { readonly data: string }>[]
}

/** Each is shown as it is. */
export function kept(name: string, texts: readonly string[]): readonly Escape[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: text }))
}

/** Of each nothing is shown. */
export function gone(name: string, texts: readonly string[]): readonly Escape[] {
  return texts.map((text) => ({ name: `${name} ${JSON.stringify(text)}`, in: `a${text}b`, out: 'ab' }))
}

export function asked(name: string, text: string, query = text): Escape {
  return { name, in: `a${text}b`, out: 'ab', also: [{ query }] }
}

/** Between an opening and an end; a space within one is written as ␠. */
export function between(opening: string, words: string, end = ''): readonly string[] {
  const all = words.split(/\s+/).filter((word) => word !== '')
  return all.map((word) => `${opening}${word.replaceAll('␠', ' ')}${end}`)
}
