import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { pathOf } from '@atrium/protocol/file-uri'
import type { LimitValues } from '@atrium/protocol/limits'
import type { SearchParams } from './extensions.ts'
import type { SearchQuery, SearchTerm } from '../../ports/search-index.ts'

const defaultPage = 20

/**
 * The minimum length of a term with `*`, in characters. A shorter one would match nearly every text: its `*` is
 * ignored.
 */
const shortestPrefix = 2

/** Turns the params of `x-atrium/search` into a query for the index. Throws if they are invalid. */
export function queryOf(params: SearchParams, limits: LimitValues): SearchQuery {
  const { query, folder, provider, since, until, limit = defaultPage, cursor } = params
  if (query.length > limits.queryLength)
    throw wrong(`the query is longer than ${limits.queryLength} characters`)
  const terms = termsOf(query)
  if (terms.length > limits.queryTerms)
    throw wrong(`the query has more than ${limits.queryTerms} words and phrases`)
  return {
    terms,
    limit: Math.min(Math.max(1, limit), limits.foundPage),
    ...(provider !== undefined && { provider }),
    ...(folder !== undefined && { folder: folderIn(folder) }),
    ...(since !== undefined && { since: timeIn('since', since) }),
    ...(until !== undefined && { until: timeIn('until', until) }),
    ...(cursor !== undefined && { before: positionIn(cursor) }),
  }
}

/**
 * The terms of a query that a person has typed. A word is a term, `"several words"` are one term. With a `*` at its
 * end, a term also matches longer words that begin like its last word. Everything that is neither a letter nor a
 * digit separates words, so every text is a valid query. A text without words has no terms.
 */
export function termsOf(query: string): readonly SearchTerm[] {
  const terms = new Map<string, SearchTerm>()
  for (const { groups = {} } of query.matchAll(typedTerm)) {
    const { phrase, word = phrase ?? '', star, more = star ?? '' } = groups
    const text = word.trim()
    if (!hasLetter.test(text)) continue
    const prefix = more !== '' && text.length >= shortestPrefix
    terms.set(`${text.toLowerCase()}${prefix ? '*' : ''}`, { text, prefix })
  }
  return [...terms.values()]
}

/** A phrase between quotation marks, or a word. The end of the query closes an open quotation. */
const typedTerm = /["“”„](?<phrase>[^"“”„]*)(?:["“”„]|$)(?<star>\*?)|(?<word>[^\s"“”„*]+)(?<more>\*?)/gu
const hasLetter = /[\p{L}\p{N}\p{Co}]/u

function folderIn(uri: Uri): string {
  const named = pathOf(uri)
  if (!named.ok) throw wrong(`folder: ${named.problem}`)
  return named.path
}

function timeIn(name: string, text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw wrong(`${name} is no time: ${JSON.stringify(text.slice(0, 100))}`)
  return time
}

function positionIn(cursor: string): number {
  const position = /^\d{1,16}$/.test(cursor) ? Number(cursor) : NaN
  if (!Number.isSafeInteger(position)) throw wrong('unknown cursor')
  return position
}

function wrong(problem: string): AhpError {
  return AhpError.invalidParams(`x-atrium/search: ${problem}`)
}
