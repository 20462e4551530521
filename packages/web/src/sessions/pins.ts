import type { SessionSummary } from '@atrium/protocol/session/state'
import { useCallback, useState } from 'preact/hooks'

const key = 'pinned-sessions'

/** The sessions that a person has pinned in this browser, by URI. */
export function usePins() {
  const [pinned, setPinned] = useState<ReadonlySet<string>>(
    () => new Set((localStorage.getItem(key) ?? '').split('\n').filter(Boolean)),
  )
  const togglePin = useCallback(
    ({ resource }: SessionSummary) =>
      setPinned((now) => {
        const next = new Set([...now, resource])
        if (now.has(resource)) next.delete(resource)
        localStorage.setItem(key, [...next].join('\n'))
        return next
      }),
    [],
  )
  return { pinned, togglePin }
}
