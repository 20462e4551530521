import type { Client } from '@atrium/client/client'
import { SessionList } from '@atrium/client/sessions'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { useEffect, useState } from 'preact/hooks'

export interface ListedSessions {
  readonly sessions: readonly SessionSummary[]
  /** Whether the list has come from the host. */
  readonly listed: boolean
}

/** The longest time that a change of the list waits for the open chat, in milliseconds. */
const longestWaitMs = 300

/**
 * The sessions of the host, last modified first. During a turn, the open chat and this list often change at the same
 * time. The page then draws the chat first, and draws the list when the browser is idle.
 */
export function useSessionList(client: Client): ListedSessions {
  const [view, setView] = useState<ListedSessions>({ sessions: [], listed: false })
  useEffect(() => {
    const list = new SessionList(client)
    const draw = () => setView({ sessions: list.items, listed: list.listed })
    let cancel: (() => void) | undefined
    const changed = () => {
      cancel ??= whenIdle(() => {
        cancel = undefined
        draw()
      })
    }
    const unlisten = list.onChange(changed)
    draw()
    return () => {
      cancel?.()
      unlisten()
      list.release()
    }
  }, [client])
  return view
}

/**
 * Runs a task when the browser is idle, at the latest after `longestWaitMs`. Safari has no `requestIdleCallback`, so a timer
 * runs the task there.
 */
function whenIdle(task: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(task, longestWaitMs / 3)
    return () => clearTimeout(timer)
  }
  const asked = requestIdleCallback(task, { timeout: longestWaitMs })
  return () => cancelIdleCallback(asked)
}
