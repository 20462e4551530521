import { noticeOf } from './notice.ts'
import { ShellCache } from './shell-cache.ts'
import type { Build } from './shell-cache.ts'
import type { WorkerScope } from './worker-scope.ts'

/** The facts about this build. The build writes them in place of this name. */
declare const __BUILD__: Build

// The global scope is that of a worker, and the types of this package are those of pages: hence the cast.
const scope = globalThis as unknown as WorkerScope

/** The kept files of the page. From them this service worker opens the page without a host. */
const shell = new ShellCache(__BUILD__, {
  caches,
  fetch: (path, options) => fetch(path, options),
  digest: async (bytes) =>
    [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
      .map((byte) => byte.toString(16).padStart(2, '0'))
      .join(''),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
})

scope.addEventListener('install', (event) => {
  // The new worker begins at once: it answers for pages of the old build as well, whose files stay until the next build.
  event.waitUntil(shell.install().then(() => scope.skipWaiting()))
})

scope.addEventListener('activate', (event) => {
  event.waitUntil(shell.activate().then(() => scope.clients.claim()))
})

scope.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url)
  const answer = url.origin === scope.location.origin ? shell.answer(event.request.method, url) : undefined
  if (answer) event.respondWith(answer())
})

scope.addEventListener('push', (event) => {
  const { title, body, tag, link } = noticeOf(event.data?.text() ?? '')
  const options = { body, tag, data: link, icon: '/icon-192.png', badge: '/icon-192.png' }
  event.waitUntil(scope.registration.showNotification(title, options))
})

scope.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(String(event.notification.data)))
})

/** Shows the page at a link: in a window that is open, if there is one. */
async function show(link: string): Promise<void> {
  const [open] = await scope.clients.matchAll({ type: 'window' })
  if (!open) return void (await scope.clients.openWindow(link))
  open.postMessage({ link })
  await open.focus()
}
