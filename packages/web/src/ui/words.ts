/** Whether a text has all words of a search, in any order. An empty search is in every text. */
export function hasWords(text: string, search: string): boolean {
  const lower = text.toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** The things whose text has all words of a search. Those whose text begins with the search come first. */
export function found<T>(all: readonly T[], search: string, textOf: (each: T) => string): readonly T[] {
  const start = search.trim().toLowerCase()
  const matching = all.filter((each) => hasWords(textOf(each), search))
  const begins = (each: T) => textOf(each).toLowerCase().startsWith(start)
  return [...matching.filter(begins), ...matching.filter((each) => !begins(each))]
}
