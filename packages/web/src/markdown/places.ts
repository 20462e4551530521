import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** A line of a file, as texts name it: `src/app.py:12`. The path is absolute, or relative to the folder of the session. */
export interface Place {
  readonly path: string
  readonly line: number
}

/** Opens a place. Undefined where nothing can be opened. */
export type OpenPlace = (place: Place) => void

const Context = createContext<OpenPlace | undefined>(undefined)

export const PlacesProvider = Context.Provider

export function useOpenPlace(): OpenPlace | undefined {
  return useContext(Context)
}

/** The endings of files whose lines texts name. Other words with a dot and a number are often hosts with a port. */
const endings =
  'ts|tsx|mts|cts|js|jsx|mjs|cjs|py|rs|go|rb|java|kt|c|h|cc|cpp|hpp|cs|php|swift|scala|lua|sql|css|html|vue|svelte|xml|json|yaml|yml|toml|md|txt|sh'
const pattern = new RegExp(
  `(?<![\\w/:@.-])(/?(?:[\\w@.-]+/)*[\\w@.-]+\\.(?:${endings})):(\\d{1,7})(?::\\d+)?\\b`,
  'g',
)

/** A text in pieces: words, and places of files. */
export function withPlaces(text: string): readonly (string | (Place & { readonly text: string }))[] {
  if (!text.includes(':')) return [text]
  const pieces: (string | (Place & { readonly text: string }))[] = []
  let from = 0
  for (const found of text.matchAll(pattern)) {
    const [whole, path = '', line] = found
    if (found.index > from) pieces.push(text.slice(from, found.index))
    pieces.push({ text: whole, path, line: Number(line) })
    from = found.index + whole.length
  }
  if (from < text.length) pieces.push(text.slice(from))
  return pieces
}
