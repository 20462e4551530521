import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { clientOf, setTitle } from '../../../cli/test/client.ts'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, shot, taskField } from '../../test/browser.ts'

browserTest(
  '[U20] [U20.1] the list: those that need a person first, search, rename, archive, and a deletion taken back',
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

    const client = clientOf(room.host)
    onTestFinished(() => client.close())
    for (let at = 0; at < 300; at++) {
      const channel = `ahp-session:/many-${at}`
      await client.ask('createSession', { channel, provider: 'guide' })
      await setTitle(client, channel, `one of many ${at}`)
    }
    await eventually(() => page.getByRole('region', { name: 'Today' }).locator('.count').innerText()).toBe(
      '300',
    )
    expect(await page.locator('.session').count()).toBeLessThan(200)
    await page.evaluate(`document.querySelector('.session-groups').scrollTop = 1e6`)
    await page.getByRole('link', { name: /^one of many 0 / }).waitFor()
    expect(await page.locator('.session').count()).toBeLessThan(200)
    await page.getByPlaceholder('Search').fill('many 299')
    await eventually(() => page.locator('.session').count()).toBe(1)
    await expectAccessibleInBoth(page, 'a long list of sessions')
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
  await other.locator('.session-title', { hasText: 'run echo alpha' }).click()
  await other.getByRole('button', { name: 'Allow once' }).click()
  await group('Today').waitFor()
  await page.getByRole('button', { name: 'Rename', exact: true }).click()
  await page.getByLabel('Title').fill('first')
  await page.keyboard.press('Enter')
  await eventually(() => group('Today').allInnerTexts()).toEqual(['first'])
  expectUnharmed(page, other)
})

browserTest(
  '[U40] [U40.1] a session starts in a folder that the page may not list yet, and its folder is offered for the next one',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    const other = join(room.home, 'elsewhere')
    mkdirSync(join(other, 'src'), { recursive: true })
    const start = page.getByRole('main').filter({ visible: true })
    const folder = start.getByLabel('Folder', { exact: true })
    await eventually(() => folder.inputValue()).toBe(room.folder)
    await folder.fill(other)
    await folder.press('Enter')
    await start.getByText('A session can start here if the folder exists.').waitFor()
    expect(await start.locator('.problem').count()).toBe(0)
    expect(await start.getByText('granted').count()).toBe(0)
    await shot(page, 'new-session-elsewhere')
    await expectAccessibleInBoth(page, 'a folder elsewhere')
    await begin(page, 'say elsewhere')
    await page.locator('.answer .markdown', { hasText: 'elsewhere' }).waitFor()
    await taskField(page)
    await eventually(() => folder.inputValue()).toBe(other)
    await folder.fill(room.folder)
    await folder.press('Enter')
    await begin(page, 'say at home')
    await page.locator('.answer .markdown', { hasText: 'at home' }).waitFor()
    await taskField(page)
    await eventually(() => folder.inputValue()).toBe(room.folder)
    // Some letters of a recent folder find it, and Tab completes a folder inside of it.
    await folder.fill('lsewh')
    const offered = start.getByRole('listbox', { name: 'Folders' }).getByRole('option')
    await eventually(() => offered.allInnerTexts()).toEqual([expect.stringMatching(/elsewhere\s*recent$/)])
    await shot(page, 'first-screen-folders')
    await expectAccessibleInBoth(page, 'folders')
    await folder.press('Tab')
    await start.getByRole('option', { name: join(other, 'src') }).waitFor()
    await folder.press('ArrowDown')
    await folder.press('Enter')
    await eventually(() => folder.inputValue()).toBe(join(other, 'src'))
    expectUnharmed(page)
  },
)
