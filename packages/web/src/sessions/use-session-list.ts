import type { Client } from '@atrium/client/client'
import { SessionList } from '@atrium/client/sessions'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useEffect, useState } from 'preact/hooks'

export interface ListedSessions {
  readonly sessions: readonly SessionSummary[]
  /** Whether the list has come from the host. */
  readonly listed: boolean
}

/** The sessions of the host, last modified first. */
export function useSessionList(client: Client): ListedSessions {
  const [view, setView] = useState<ListedSessions>({ sessions: [], listed: false })
  useEffect(() => {
    const list = new SessionList(client)
    const draw = () => setView({ sessions: list.items, listed: list.listed })
    const unlisten = list.onChange(draw)
    draw()
    return () => {
      unlisten()
      list.release()
    }
  }, [client])
  return view
}
