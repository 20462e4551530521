import type { SessionSummary } from '@atrium/protocol/session/state'
import { folderOf, lastName, moodOf, titleOf } from '../sessions/grouping.ts'
import { Ago } from '../ui/ago.tsx'
import { fragmentOf } from '../ui/route.ts'

interface Props {
  readonly title: string
  readonly sessions: readonly SessionSummary[]
}

/** The most cards of a group. The list of sessions has all of them. */
const mostShown = 6

/** Some sessions on the first screen, each with what it does now. Nothing, if there are none. */
export function SessionCards({ title, sessions }: Props) {
  if (sessions.length === 0) return null
  const others = sessions.length - mostShown
  return (
    <section class="cards" aria-label={title}>
      <h2>
        {title} <span class="count">{sessions.length}</span>
      </h2>
      <ul>
        {sessions.slice(0, mostShown).map((session) => (
          <li key={session.resource}>
            <a class="card" href={fragmentOf({ session: session.resource })}>
              <span class={`mood ${moodOf(session).replace(' ', '-')}`} aria-hidden="true" />
              <span class="card-title">{titleOf(session)}</span>
              <span class="card-about">
                {[session.activity ?? '', lastName(folderOf(session)), session.provider]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
              <Ago moment={session.modifiedAt} />
            </a>
          </li>
        ))}
      </ul>
      {others > 0 && <p class="quiet">{others === 1 ? '1 more is' : `${others} more are`} in the list.</p>}
    </section>
  )
}
