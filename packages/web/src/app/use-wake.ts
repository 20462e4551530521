import type { Client } from '@atrium/client/client'
import { useEffect } from 'preact/hooks'

/** A page that was hidden for longer than this gets a new link. */
const sleepMs = 10_000

/**
 * Opens a new link when the page is seen again after a while, or has another network. The old link may be dead without a
 * sign of it, above all on a phone.
 */
export function useWake(client: Client): void {
  useEffect(() => {
    let hiddenAt: number | undefined
    const wake = () => void client.wake()
    const changed = () => {
      if (document.visibilityState === 'hidden') hiddenAt = Date.now()
      else if (hiddenAt !== undefined && Date.now() - hiddenAt > sleepMs) wake()
      else client.connect()
    }
    const shown = ({ persisted }: PageTransitionEvent) => {
      // The page comes back from the back/forward cache, where the browser has closed its sockets.
      if (persisted) wake()
    }
    document.addEventListener('visibilitychange', changed)
    addEventListener('pageshow', shown)
    addEventListener('online', wake)
    return () => {
      document.removeEventListener('visibilitychange', changed)
      removeEventListener('pageshow', shown)
      removeEventListener('online', wake)
    }
  }, [client])
}
