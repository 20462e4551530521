import type { Client } from '@atrium/client/client'
import { useEffect } from 'preact/hooks'

/**
 * Opens a new link when the page is seen again, or when the device gets another network. The old link may be dead
 * without a sign of it, above all on a phone. A new link is cheap, and a test of the old one would take longer.
 */
export function useWake(client: Client): void {
  useEffect(() => {
    const wake = () => void client.wake()
    const changed = () => {
      if (document.visibilityState === 'visible') wake()
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
