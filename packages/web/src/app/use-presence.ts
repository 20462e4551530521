import type { Client } from '@atrium/client/client'
import { rootUri } from '@atrium/protocol/uri'
import { useEffect } from 'preact/hooks'
import { askExtension, offers } from '../link/extension.ts'

/**
 * Tells the host whether a person sees this page: on each new link, and whenever the page is shown or hidden. The
 * host sends no push to a device whose page is seen.
 */
export function usePresence(client: Client): void {
  useEffect(() => {
    const tell = () => {
      if (client.link.state !== 'live' || !offers(client, 'x-atrium/presence')) return
      // A failure is ignored: it means that the link has ended, and then the host forgets what the link has told.
      askExtension(client, 'x-atrium/presence', {
        channel: rootUri,
        visible: document.visibilityState === 'visible',
      }).catch(() => {})
    }
    const unlisten = client.onLink(tell)
    document.addEventListener('visibilitychange', tell)
    tell()
    return () => {
      unlisten()
      document.removeEventListener('visibilitychange', tell)
    }
  }, [client])
}
