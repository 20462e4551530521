import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed } from '../../test/browser.ts'

browserTest(
  '[U20] the list: those that need a person first, search, rename, archive, and a deletion taken back',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say alpha')
    await page.locator('.turn-foot').waitFor()
    await begin(page, 'run echo beta')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    await begin(page, 'say gamma')
    await page.locator('.answer .markdown', { hasText: 'gamma' }).waitFor()
    const list = page.getByRole('navigation', { name: 'Sessions' })
    const titles = () => list.locator('.session-title').allInnerTexts()
    await eventually(titles).toEqual(['run echo beta', 'say gamma', 'say alpha'])
    await eventually(() => page.title()).toBe('(1) say gamma · Atrium')
    await page.getByPlaceholder('Search').fill('ALPH project')
    await eventually(titles).toEqual(['say alpha'])
    await page.getByPlaceholder('Search').fill('')

    const act = async (title: string, action: string) => {
      await list.getByText(title).hover()
      await page.getByRole('button', { name: `Actions for ${title}` }).click()
      await page.getByRole('button', { name: action, exact: true }).click()
    }
    await act('say alpha', 'Rename')
    await page.getByLabel('Title').fill('first')
    await page.keyboard.press('Enter')
    await eventually(titles).toContain('first')
    await act('first', 'Archive')
    await eventually(titles).toEqual(['run echo beta', 'say gamma'])
    await page.getByRole('button', { name: 'Show 1 archived' }).click()
    await eventually(titles).toEqual(['run echo beta', 'say gamma', 'first'])
    const other = await room.page()
    await eventually(() => other.locator('.session-title').allInnerTexts()).toContain('say gamma')
    await page.evaluate(endlessUndo)
    await act('say gamma', 'Delete')
    await eventually(titles).toEqual(['run echo beta', 'first'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await eventually(titles).toEqual(['run echo beta', 'say gamma', 'first'])
    await page.evaluate('globalThis.setTimeout = globalThis.later')
    expect(await other.locator('.session-title').allInnerTexts()).toContain('say gamma')
    await act('say gamma', 'Delete')
    await eventually(() => other.locator('.session-title').allInnerTexts()).not.toContain('say gamma')
    expectUnharmed(page, other)
  },
)

/**
 * A script for the page. A deletion can be taken back for 7 seconds, and its notice stays for 8. From now on these
 * times never end, so that the test may take longer.
 */
const endlessUndo = `(() => {
  globalThis.later = setTimeout
  globalThis.setTimeout = (task, ms) => later(task, ms === 7000 || ms === 8000 ? 1e9 : ms)
})()`

browserTest('[U20] an open menu stays open when its session moves to another group of the list', async () => {
  const room = await Room.open()
  const page = await room.page()
  const other = await room.page()
  await begin(page, 'run echo alpha')
  const group = (name: string) => page.getByRole('region', { name }).locator('.session-title')
  await group('Needs you').hover()
  await page.getByRole('button', { name: 'Actions for run echo alpha' }).click()
  await other.getByText('run echo alpha').click()
  await other.getByRole('button', { name: 'Allow once' }).click()
  await group('Today').waitFor()
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await page.getByLabel('Title').fill('first')
  await page.keyboard.press('Enter')
  await eventually(() => group('Today').allInnerTexts()).toEqual(['first'])
  expectUnharmed(page, other)
})
