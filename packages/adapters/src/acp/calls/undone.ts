import { TurnFailed } from '@atrium/host/ports/agent'

/**
 * Returns the failure of a turn that was resumed after a restart. The agent was told that users have allowed a call,
 * and ended the turn without making this call. Nothing of what users wanted has happened, so the turn is not
 * complete. It can be resumed, and the agent may then ask again.
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
