import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, messageField } from '../../test/browser.ts'

const open = (page: Page, title: string) =>
  page.getByRole('navigation', { name: 'Sessions' }).getByText(title, { exact: true }).click()
const shown = (page: Page) => page.locator('.kept:not(.left)')

/** Creates a session while another may be open, and waits for the end of its turn. */
async function beginNext(page: Page, text: string): Promise<void> {
  await begin(page, text)
  await shown(page)
    .filter({ has: page.locator('h1', { hasText: text }) })
    .locator('.turn-foot')
    .waitFor()
}

browserTest(
  '[U48] a session that was left is there at once: its elements, its place, its text and the focus',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'long 600')
    await page.locator('.turn-foot').waitFor()
    await page.evaluate(`(() => {
      document.querySelector('.turn').isFirst = true
      document.querySelector('.timeline').scrollTop = 40
    })()`)
    await page.getByRole('button', { name: 'Newest' }).waitFor()
    await messageField(page).fill('not sent yet')
    await beginNext(page, 'say other')

    expect(await page.locator('.kept').count()).toBe(2)
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Newest' }).count()).toBe(0)
    await expectAccessible(page, 'a session beside one that was left')
    await eventually(() => page.evaluate(focused)).toBe('say other')
    // Keyboard shortcuts act on the open session, and Tab never moves the focus into the session that was left.
    await page.evaluate(`document.activeElement.blur()`)
    await page.keyboard.press('m')
    await eventually(() => page.evaluate(focused)).toBe('say other')
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(`document.activeElement.closest('[inert]')`)).toBe(null)
    }

    await open(page, 'long 600')
    await eventually(() => page.evaluate(focused)).toBe('long 600')
    expect(await page.evaluate(`document.querySelector('.kept:not(.left) .turn').isFirst`)).toBe(true)
    expect(await page.evaluate(`document.querySelector('.kept:not(.left) .timeline').scrollTop`)).toBe(40)
    expect(await messageField(page).inputValue()).toBe('not sent yet')
    expectUnharmed(page)
  },
)

browserTest(
  '[U48] [U48.1] a session that was left draws nothing, has no one in it, and shows its newest state when it is opened',
  async () => {
    const room = await Room.open()
    const [page, other] = [await room.page(), await room.page()]
    await begin(page, 'slow 12')
    const left = new URL(page.url()).hash
    await other.goto(`${room.address}${left}`)
    await other.getByText('Also here').waitFor()
    await beginNext(page, 'say other')
    await other.getByText('Also here').waitFor({ state: 'detached' })
    await page.evaluate(`(() => {
      globalThis.changes = 0
      new MutationObserver((found) => void (changes += found.length))
        .observe(document.querySelector('.kept.left .timeline'), { subtree: true, childList: true, characterData: true })
    })()`)
    await other.locator('.turn-foot').waitFor()
    expect(await page.evaluate('changes')).toBe(0)

    await open(page, 'slow 12')
    await shown(page).locator('.turn-foot').waitFor()
    const answer = await other.locator('.answer .markdown').innerText()
    expect(await shown(page).locator('.answer .markdown').innerText()).toBe(answer)
    await other.getByText('Also here').waitFor()
    expectUnharmed(page, other)
  },
)

browserTest('[U48] the last four sessions stay in the document, and no more', async () => {
  const room = await Room.open()
  const page = await room.page()
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    await beginNext(page, `say ${name}`)
  }
  expect(await page.locator('.kept').count()).toBe(4)
  expect(await page.locator('.kept.left').count()).toBe(3)
  await open(page, 'say one')
  await eventually(() => page.locator('.kept h1').allTextContents()).toEqual([
    'say three',
    'say four',
    'say five',
    'say one',
  ])
  expectUnharmed(page)
})

/** A script for the page. Returns the title of the session whose message field has the focus. */
const focused = `document.activeElement.matches('textarea')
  ? document.activeElement.closest('.kept').querySelector('h1').textContent : undefined`
