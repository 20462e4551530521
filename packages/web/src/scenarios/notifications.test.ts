import { expect } from 'vitest'
import type { BrowserContext, Page } from 'playwright-core'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  needsNotifications,
  shot,
} from '../../test/browser.ts'

needsNotifications()

const kept = (page: Page) => page.evaluate('navigator.serviceWorker.ready.then(() => true)')

/**
 * Delivers a push to the page's service worker, as the push service of the browser would. Returns the notifications that
 * are shown. The browser drops a push for a worker that is just being activated, so a caller repeats it.
 */
async function push(context: BrowserContext, page: Page, data: string): Promise<unknown> {
  const debug = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    debug.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [first] = registrations
      if (first) resolve(first.registrationId)
    })
  })
  await debug.send('ServiceWorker.enable')
  const origin = new URL(page.url()).origin
  await debug.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data })
  await debug.detach()
  return shown(page)
}

const shown = (page: Page) =>
  page.evaluate(`navigator.serviceWorker.ready.then(async (registration) =>
    (await registration.getNotifications()).map(({ title, data }) => ({ title, data })))`)

browserTest('[U46] a push shows as a notification that leads to its session', async () => {
  const room = await Room.open()
  const page = await room.page({ permissions: ['notifications'] })
  const context = page.context()
  await begin(page, 'say hello')
  await page.locator('.turn-foot').waitFor()
  await kept(page)
  const place = new URL(page.url()).hash
  const data = JSON.stringify({ session: 'ahp-session:/x', link: `/${place}` })
  // Pushes about one session replace each other, so a repeated push shows one notification.
  await eventually(() => push(context, page, data)).toEqual([
    { title: 'The work of a session has ended', data: `/${place}` },
  ])
  await page.evaluate(`location.hash = '#/'`)
  // A tap cannot be made here. The worker sends this message to the page when it happens.
  await page.evaluate(
    `navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { link: '/${place}' } }))`,
  )
  await eventually(() => new URL(page.url()).hash).toBe(place)
  await page.locator('.answer .markdown', { hasText: 'hello' }).waitFor()
  expectUnharmed(page)
})

browserTest(
  '[U46] [T22] the page tells the host whether it is visible, and says why it cannot subscribe',
  async () => {
    const room = await Room.open()
    const page = await room.stranger({ permissions: [] })
    const frames: string[] = []
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => void frames.push(String(payload))),
    )
    const told = () =>
      frames.flatMap((frame) => /x-atrium\/presence.*"visible":(true|false)/.exec(frame)?.[1] ?? [])
    await page.goto(await room.link())
    await eventually(told).toEqual(['true'])
    await page.evaluate(`(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })()`)
    await eventually(told).toEqual(['true', 'false'])
    await page.evaluate(`(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })()`)
    await eventually(() => told().at(-1)).toBe('true')
    const bell = page.getByRole('button', { name: 'Notifications' })
    await bell.click()
    // No push service can be reached here, or the browser does not allow notifications: either is said in words.
    await page.getByText(/Notifications could not be turned on: /).waitFor()
    expect(await bell.getAttribute('aria-pressed')).toBe('false')
    await shot(page, 'notifications-refused')
    expectUnharmed(page)
  },
)
