import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  messageField,
  shot,
} from '../../test/browser.ts'

browserTest(
  '[U59] [U31.1] with room, the changes are beside the chat, and comments on them go to the agent as one message',
  async () => {
    const room = await Room.open()
    const page = await room.page({ viewport: { width: 1500, height: 900 } })
    await begin(page, 'write notes.txt one two')
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.turn-foot').waitFor()
    await messageField(page).fill('not sent yet')
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    const changes = page.getByRole('region', { name: 'Changes', exact: true })
    await changes.locator('.diff-row.added', { hasText: 'one two' }).waitFor()
    // The chat stays as it was, with the text that was not sent.
    expect(await messageField(page).inputValue()).toBe('not sent yet')
    await messageField(page).fill('')

    const split = page.getByRole('separator', { name: 'Chat and changes' })
    const width = () => page.evaluate<number>(`document.querySelector('.pane').offsetWidth`)
    const half = await width()
    await split.focus()
    for (let presses = 0; presses < 5; presses++) await page.keyboard.press('ArrowLeft')
    await eventually(() => split.getAttribute('aria-valuenow')).toBe('40')
    expect(await width()).toBeLessThan(half)
    const { x = 0, y = 0 } = (await split.boundingBox()) ?? {}
    await page.mouse.move(x + 2, y + 100)
    await page.mouse.down()
    await page.mouse.move(x + 120, y + 100)
    await page.mouse.up()
    await eventually(width).toBeGreaterThan(half * 0.9)
    const dragged = await width()

    for (const text of ['Why two?', 'And a title, please']) {
      await changes.getByRole('button', { name: 'Comment', exact: true }).click()
      await changes.getByRole('textbox', { name: 'Comment on the file' }).fill(text)
      await changes.getByRole('button', { name: 'Save' }).click()
      await changes.getByRole('region', { name: `Comment: ${text}` }).waitFor()
    }
    await shot(page, 'chat-beside-changes')
    await expectAccessibleInBoth(page, 'chat beside changes')
    await changes.getByRole('button', { name: 'Send my 2 comments to the agent' }).click()
    const sent = page.locator('.message').nth(1)
    await sent.getByText('- notes.txt: Why two?').waitFor()
    await sent.getByText('2 comments', { exact: true }).waitFor()
    await eventually(() => changes.getByRole('button', { name: /^Send my/ }).count()).toBe(0)

    await page.reload()
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    await split.waitFor()
    await eventually(width).toBe(dragged)
    await page.setViewportSize({ width: 1200, height: 900 })
    await eventually(() => messageField(page).count()).toBe(0)
    expectUnharmed(page)
  },
)
