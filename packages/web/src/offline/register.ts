import { scriptUrl } from '../ui/script-url.ts'

/**
 * Gives the page a service worker, so that the page opens without a host. A browser that has no service workers, or
 * that does not trust the certificate of the host, opens the page only while the host answers.
 */
export async function keepShell(): Promise<ServiceWorkerRegistration | undefined> {
  if (!('serviceWorker' in navigator)) return undefined
  // A tap on a notification leads this page to a session.
  navigator.serviceWorker.addEventListener(
    'message',
    ({ data }: MessageEvent<{ readonly link?: unknown }>) => {
      if (typeof data?.link === 'string') location.hash = data.link.replace(/^\/#/, '')
    },
  )
  // The types of the DOM do not know yet that a policy may have made the address: hence the cast.
  const url = scriptUrl('/service-worker.js') as string
  return navigator.serviceWorker.register(url, { updateViaCache: 'none' }).catch(() => undefined)
}
