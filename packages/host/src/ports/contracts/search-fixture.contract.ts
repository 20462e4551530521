import type { FoundText, IndexedSession, IndexedText, SearchIndex, SearchQuery } from '../search-index.ts'

/** An index, and a function that closes it and opens it again. */
export interface OpenedIndex {
  readonly index: SearchIndex
  readonly reopen: () => Promise<SearchIndex>
}

export const [one, two] = ['ahp-session:/1', 'ahp-session:/2']
export const chat = 'ahp-chat:/1'
export const noon = Date.parse('2026-01-01T12:00:00Z')

export const entryOf = (more: Partial<IndexedSession> = {}): IndexedSession => ({
  provider: 'mock',
  folders: ['/work/app'],
  title: '',
  time: noon,
  chats: [{ chat, title: '' }],
  ...more,
})
export const said = (text: string, more: Partial<IndexedText> = {}): IndexedText => ({
  who: 'user',
  time: noon,
  text,
  ...more,
})
export const turn = (turnId: string, ...texts: readonly IndexedText[]) => ({ chat, turnId, texts })
/**
 * Makes a query from words. A word with a star at its end also finds longer words, and a text with spaces is a
 * phrase.
 */
export const words = (...texts: readonly string[]): SearchQuery => ({
  terms: texts.map((text) => ({ text: text.replace(/\*$/, ''), prefix: text.endsWith('*') })),
  limit: 100,
})
export const idsOf = (found: readonly FoundText[]) => found.map(({ turnId }) => turnId)

/** An index with one session, whose turns have these texts. */
export async function filled(
  open: () => Promise<OpenedIndex>,
  texts: { readonly [turnId: string]: string | readonly IndexedText[] },
): Promise<OpenedIndex> {
  const opened = await open()
  await opened.index.begin(1, [])
  const turns = Object.entries(texts).map(([id, text], i) =>
    turn(id, ...(typeof text === 'string' ? [said(text, { time: noon + 60_000 * i })] : text)),
  )
  await opened.index.update({ session: one, entry: entryOf(), turns, version: 7 })
  return opened
}

/** The ids of the turns that are found. */
export async function found(
  index: SearchIndex,
  query: SearchQuery,
): Promise<readonly (string | undefined)[]> {
  return idsOf((await index.find(query)).found)
}
