import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed, send } from '../../test/browser.ts'

browserTest('[U19] while a person reads further up, nothing moves; at the end the page follows', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'long 400')
  await page.locator('.turn-foot').waitFor()
  await send(page, 'say a landmark')
  await page.locator('.turn-foot').nth(1).waitFor()
  await send(page, 'long 2000')
  // A page that draws late may see the end of the turn first.
  await page.locator('p.working').or(page.locator('.turn-foot').nth(2)).first().waitFor()
  await page.evaluate(`document.querySelector('.timeline').scrollTop = 40`)
  const landmark = page.locator('.turn').first().locator('.message')
  const place = async () => (await landmark.boundingBox())?.y
  await page.getByRole('button', { name: 'Newest' }).waitFor()
  const before = await place()
  const places = new Set<number | undefined>()
  while ((await page.locator('p.working').count()) > 0) places.add(await place())
  places.add(await place())
  expect([...places]).toEqual([before])
  await page.getByRole('button', { name: 'Newest' }).click()
  await send(page, 'long 600')
  await page.locator('.turn-foot').nth(3).waitFor()
  await eventually(() => page.evaluate(left)).toBeLessThan(2)
  expectUnharmed(page)
})

browserTest(
  '[U19] a long chat opens with its newest turns, and loads earlier ones when a person scrolls up',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say turn 1')
    for (let turn = 2; turn <= 26; turn++) {
      await page
        .locator('.turn-foot')
        .nth(turn - 2)
        .waitFor()
      await send(page, `say turn ${turn}`)
    }
    await page.locator('.turn-foot').nth(25).waitFor()
    await page.reload()
    await page.locator('.message-text', { hasText: /^say turn 26$/ }).waitFor()
    expect(await page.locator('.turn').count()).toBe(20)
    await page.evaluate(`document.querySelector('.timeline').scrollTop = 0`)
    await eventually(() => page.locator('.turn').count()).toBe(26)
    const texts = await page.locator('.message-text').allTextContents()
    expect(texts).toEqual(Array.from({ length: 26 }, (_, at) => `say turn ${at + 1}`))
    expectUnharmed(page)
  },
)

browserTest('[U19] a chat that is opened shows its end, also when contents come later', async () => {
  const room = await Room.open()
  writeFileSync(join(room.folder, 'long.txt'), Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join(''))
  const page = await room.page({ viewport: { width: 375, height: 600 } })
  await begin(page, 'say before')
  await page.locator('.turn-foot').waitFor()
  await send(page, 'write long.txt short')
  const answers = page.getByRole('group', { name: 'Answers' })
  await page.locator('.diff-row.added').waitFor()
  await eventually(() => page.evaluate(left)).toBeLessThan(2)
  await page.reload()
  await page.locator('.diff-row.added').waitFor()
  await eventually(() => page.evaluate(left)).toBeLessThan(2)
  await answers.getByRole('button', { name: 'Allow once' }).click()
  expectUnharmed(page)
})

/** How far the page is from the end of the chat, in pixels. */
const left = `(() => {
  const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.timeline')
  return scrollHeight - scrollTop - clientHeight
})()`
