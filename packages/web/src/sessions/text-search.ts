import type { Client } from '@atrium/client/client'
import { rootUri } from '@atrium/protocol/uri'
import { useEffect, useState } from 'preact/hooks'
import { askExtension, offers } from '../link/extension.ts'
import { member, textMember } from '../link/member.ts'

/** A text of a session that has all words of a search (Q20). */
export interface FoundText {
  readonly session: string
  readonly chat: string | undefined
  readonly title: string
  readonly excerpt: string
}

const none: readonly FoundText[] = []
/** How long a person must have stopped typing before the host searches, in milliseconds. */
const pauseMs = 200
/** The fewest characters of a search. A shorter one has too many results to help anybody. */
const shortest = 3
const limit = 10

/** The texts of all sessions that have the words of a search. A host without a search finds none. */
export function useTextSearch(client: Client, query: string): readonly FoundText[] {
  const [found, setFound] = useState(none)
  useEffect(() => {
    setFound(none)
    if (query.trim().length < shortest || !offers(client, 'x-atrium/search')) return
    let current = true
    const search = () =>
      askExtension(client, 'x-atrium/search', { channel: rootUri, query, limit }).then(
        (result) => current && setFound(textsIn(result)),
        // Half a query, such as an open quote, is no failure of the page. The person types on.
        () => {},
      )
    const timer = setTimeout(() => void search(), pauseMs)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [client, query])
  return found
}

function textsIn(result: unknown): readonly FoundText[] {
  const items = member(result, 'items')
  if (!Array.isArray(items)) return none
  return items.flatMap((item: unknown) => {
    const session = textMember(item, 'session')
    const excerpt = textMember(member(item, 'excerpt'), 'text')
    if (session === undefined || excerpt === undefined || member(item, 'turnId') === undefined) return []
    return [{ session, chat: textMember(item, 'chat'), title: textMember(item, 'title') ?? '', excerpt }]
  })
}
