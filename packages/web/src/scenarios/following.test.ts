import { expect } from 'vitest'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  giveFile,
  send,
  shot,
} from '../../test/browser.ts'

browserTest(
  '[U19] the end of the chat stays on the screen when waiting messages and pictures take its room',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'long 400')
    await page.locator('.turn-foot').waitFor()
    // This turn writes nothing while it waits, so that only its place can change.
    await send(page, 'run touch never')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    const height = () => page.evaluate<number>(`document.querySelector('.timeline').clientHeight`)
    const before = await height()
    for (const text of ['say one', 'say two', 'say three', 'say four']) await send(page, text)
    await eventually(() => page.locator('.queued-text').count()).toBe(4)
    expect(await height()).toBeLessThan(before)
    await shot(page, 'queue-and-turn')
    await eventually(() => page.evaluate(left)).toBeLessThan(2)
    const beside = await height()
    await giveFile(page, 'paste', '.composer textarea', { name: 'red.png', type: 'image/png', base64: pixel })
    await page.locator('.composer').getByAltText('red.png').waitFor()
    expect(await height()).toBeLessThan(beside)
    await eventually(() => page.evaluate(left)).toBeLessThan(2)
    expect(await page.getByRole('button', { name: 'Newest' }).count()).toBe(0)
    expectUnharmed(page)
  },
)

/** How far the page is from the end of the chat, in pixels. */
const left = `(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.timeline')
  return scrollHeight - scrollTop - clientHeight
})()`

/** A picture of one red pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='
