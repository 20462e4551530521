import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'
import { Network } from '../../test/half-open.ts'

browserTest(
  '[U15] [U16] [U15.1] a killed host comes back: the page recovers without a reload and sends what waited',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say before')
    await page.locator('.turn-foot').waitFor()
    await page.evaluate('globalThis.notReloaded = true')
    await room.host.kill()
    const sidebar = page.getByRole('complementary')
    await sidebar.getByText(/Offline/).waitFor()
    await send(page, 'say after')
    await page.getByText('Waits for the host').waitFor()
    await shot(page, 'offline')
    await room.start()
    await page.locator('.answer .markdown', { hasText: 'after' }).waitFor()
    await sidebar.getByText('Live', { exact: true }).waitFor()
    expect(await page.getByText('Waits for the host').count()).toBe(0)
    expect(await page.locator('.message-text', { hasText: 'say after' }).count()).toBe(1)
    expect(await page.evaluate('globalThis.notReloaded')).toBe(true)
  },
)

browserTest('[U15] a turn that the kill has interrupted is resumed from the page', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'slow 8')
  await page.locator('.answer .markdown').waitFor()
  await room.host.kill()
  await room.start()
  await page.getByRole('button', { name: 'Resume the turn' }).click()
  await page.locator('.turn-foot').waitFor()
  await eventually(
    async () => (await page.locator('.answer .markdown').allInnerTexts()).join(' ').split(/\s+/).length,
  ).toBe(8)
})

browserTest(
  '[U16] a message that was queued behind a turn while the host was away waits until the turn is resumed',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'slow 8')
    await page.locator('.answer .markdown').waitFor()
    await room.host.kill()
    await page
      .getByRole('complementary')
      .getByText(/Offline/)
      .waitFor()
    await page.locator('p.working', { hasText: 'Offline.' }).waitFor()
    expect(await page.locator('.working .elapsed').count()).toBe(0)
    await send(page, 'say sent while away')
    await page.locator('.queued-text', { hasText: 'say sent while away' }).waitFor()
    await room.start()
    await page.getByText('The turn can be resumed until another one begins').waitFor()
    await page.getByText('these wait for you').waitFor()
    await shot(page, 'held-after-kill')
    await page.getByRole('button', { name: 'Resume the turn' }).click()
    await page.locator('.answer .markdown', { hasText: 'sent while away' }).waitFor()
    await eventually(() => page.locator('.turn-foot').count()).toBe(2)
    expect(await page.locator('.queue').count()).toBe(0)
  },
)

/** What a browser reports when a person comes back, as events of the page. The old socket is still open. */
const returns = [
  ['the network is back', `dispatchEvent(new Event('online'))`],
  [
    'the page is seen again',
    `for (const state of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }`,
  ],
  [
    'the page comes out of the cache of the browser',
    `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`,
  ],
] as const

for (const [name, event] of returns)
  browserTest(
    `[U15] [U14] [U15.1] a page whose link is dead without a sign of it is live as soon as ${name}`,
    async () => {
      const network = await Network.open()
      const room = await Room.open(['--allow-host', network.name])
      network.leadTo(Number(new URL(room.address).port))
      const link = new URL(await room.link())
      link.host = network.name
      const page = await room.stranger({}, link.origin)
      await page.goto(link.href)
      await page.getByText('Live', { exact: true }).waitFor()
      await begin(page, 'say one')
      await page.locator('.turn-foot').waitFor()
      const other = await room.page()
      await other.getByText('say one').first().click()
      network.freeze()
      await send(other, 'say two')
      await other.locator('.answer .markdown', { hasText: 'two' }).waitFor()
      expect(await page.locator('.answer .markdown', { hasText: 'two' }).count()).toBe(0)
      await page.evaluate(`(() => {
        globalThis.reasons = []
        const link = document.querySelector('.sidebar .link')
        new MutationObserver(() => reasons.push(link.title)).observe(link, { attributes: true })
        ${event}
      })()`)
      await page.locator('.answer .markdown', { hasText: 'two' }).waitFor()
      expect(await page.evaluate('globalThis.reasons')).toContain('The link is being replaced.')
      await send(page, 'say three')
      await other.locator('.answer .markdown', { hasText: 'three' }).waitFor()
      expectUnharmed(page, other)
    },
  )
