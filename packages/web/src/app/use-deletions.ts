import type { Client } from '@atrium/client/client'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useEffect, useRef, useState } from 'preact/hooks'
import { failedRequest, failureWords } from '../link/outcome-words.ts'
import { titleOf } from '../sessions/grouping.ts'
import type { NoticeBoard } from './use-notices.ts'

/**
 * The time in which a deletion can be undone. The host cannot undo one, so it gets the request only after this time.
 */
const undoMs = 7000

/** Deletes sessions, each after a while in which a person can change their mind. */
export function useDeletions(client: Client, { say, dismiss }: NoticeBoard) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const waiting = useRef(new Map<string, () => void>())
  const show = (uri: string) => setHidden((now) => new Set([...now].filter((each) => each !== uri)))
  const remove = (session: SessionSummary) => {
    const { resource: channel } = session
    setHidden((now) => new Set([...now, channel]))
    const commit = () => {
      clearTimeout(timer)
      waiting.current.delete(channel)
      dismiss(notice)
      client.ask('disposeSession', { channel }).catch((error: unknown) => {
        show(channel)
        const title = titleOf(session)
        say(failureWords(failedRequest(error), `${title} was not deleted`, `${title} was deleted`))
      })
    }
    const timer = setTimeout(commit, undoMs)
    waiting.current.set(channel, commit)
    const undo = () => {
      clearTimeout(timer)
      waiting.current.delete(channel)
      show(channel)
    }
    const notice = say(`${titleOf(session)} is being deleted.`, { label: 'Undo', run: undo })
  }
  useEffect(() => {
    // When the page is left, all waiting deletions are sent: nobody has undone them.
    const leave = () => waiting.current.forEach((commit) => commit())
    addEventListener('pagehide', leave)
    return () => removeEventListener('pagehide', leave)
  }, [])
  return { hidden, remove }
}
