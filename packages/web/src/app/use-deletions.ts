import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useState } from 'preact/hooks'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import { titleOf } from '../sessions/grouping.ts'
import type { Hold } from '../ui/use-held.ts'

/**
 * The time in which a deletion can be undone. The host cannot undo one, so it gets the request only after this time.
 */
const undoMs = 7000

/** Deletes sessions, each after a while in which a person can change their mind. */
export function useDeletions(client: Client, hold: Hold, say: (text: string) => void) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const show = (uri: string) => setHidden((now) => new Set([...now].filter((each) => each !== uri)))
  const remove = (session: SessionSummary) => {
    const { resource: channel } = session
    setHidden((now) => new Set([...now, channel]))
    hold({
      text: `${titleOf(session)} is being deleted.`,
      ms: undoMs,
      undo: () => show(channel),
      act: () =>
        void client.ask('disposeSession', { channel }).catch((error: unknown) => {
          show(channel)
          const title = titleOf(session)
          say(failureWords(failedRequest(error), `${title} was not deleted`, `${title} was deleted`))
        }),
    })
  }
  return { hidden, remove }
}
