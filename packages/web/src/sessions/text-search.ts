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
/** The first and the longest pause before a search that was incomplete is repeated, in milliseconds. */
const firstAgainMs = 250
const longestAgainMs = 4000

/**
 * The texts of all sessions that have the words of a search. A host without a search finds none. The host indexes a
 * turn some time after it has ended. As long as it says that sessions are not indexed yet, it is asked again.
 */
export function useTextSearch(client: Client, query: string): readonly FoundText[] {
  const [found, setFound] = useState(none)
  useEffect(() => {
    setFound(none)
    if (query.trim().length < shortest || !offers(client, 'x-atrium/search')) return
    let current = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const search = (againMs: number) =>
      askExtension(client, 'x-atrium/search', { channel: rootUri, query, limit }).then(
        (result) => {
          if (!current) return
          setFound(textsIn(result))
          if (member(result, 'pending') === undefined) return
          timer = setTimeout(() => void search(Math.min(2 * againMs, longestAgainMs)), againMs)
        },
        // Half a query, such as an open quote, is no failure of the page. The person types on.
        () => {},
      )
    timer = setTimeout(() => void search(firstAgainMs), pauseMs)
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
