import { TurnFailed } from '@atrium/host/ports/agent'

/**
 * The failure of a turn whose agent was told after a restart that users have allowed a call, and ended its turn without the
 * call. Such a turn is not complete: nothing of what users wanted has happened. It can be resumed, and the agent may then ask
 * again.
 */
export function undoneFailure(titles: readonly string[]): TurnFailed {
  const [first = 'a call', ...others] = titles.map((title) => JSON.stringify(title.slice(0, maxTitleLength)))
  const what = others.length === 0 ? first : `${first} and ${others.length} more`
  return new TurnFailed(
    'undone',
    `The agent ended its turn without doing what was allowed: ${what}. Resume the turn to let it try again.`,
    true,
  )
}

/** In characters. */
const maxTitleLength = 200
