import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

browserTest('[U21] [U18.4] axe objects to nothing on any screen, light and dark', async () => {
  const room = await Room.open()
  writeFileSync(join(room.folder, 'notes.txt'), 'one\ntwo\n')
  const stranger = await room.stranger()
  await stranger.goto(room.address)
  await stranger.getByRole('heading').waitFor()
  await expectAccessibleInBoth(stranger, 'enter')
  const page = await room.page()
  await page.getByRole('region', { name: 'Things to try' }).waitFor()
  await page.getByRole('listbox', { name: 'Folders' }).waitFor({ state: 'detached' })
  await expectAccessibleInBoth(page, 'first screen', 'first-screen')
  await page.getByText('More settings').click()
  await page.getByLabel('Folder', { exact: true }).focus()
  await expectAccessibleInBoth(page, 'choices', 'first-screen-choices')
  await begin(page, 'hello')
  await page.locator('.turn-foot').waitFor()
  await send(
    page,
    'say # Title\n\n```ts src/a.ts\nconst a = 1 // one\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n- [x] done',
  )
  await page.locator('.hl-keyword').waitFor()
  await page.getByText('ts · src/a.ts', { exact: true }).waitFor()
  const wraps = () => page.evaluate("getComputedStyle(document.querySelector('.code pre')).whiteSpace")
  expect(await wraps()).toBe('pre')
  await page.getByRole('button', { name: 'Wrap long lines' }).click()
  await eventually(wraps).toBe('pre-wrap')
  await expectAccessibleInBoth(page, 'chat', 'chat')
  await send(page, 'edit notes.txt two => three')
  await page.locator('.diff-row.added').waitFor()
  await send(page, 'say later')
  await page.getByRole('region', { name: 'Waiting messages' }).waitFor()
  await expectAccessibleInBoth(page, 'approval', 'approval')
  await page.getByRole('button', { name: 'Deny with a reason' }).click()
  await expectAccessibleInBoth(page, 'reason')
  await page.getByLabel('Why not?').fill('not now')
  await page.keyboard.press('Enter')
  await page.locator('.answer .markdown', { hasText: 'later' }).waitFor()
  await send(page, 'ask')
  await page.getByRole('form', { name: 'Questions of the agent' }).waitFor()
  await page.getByRole('button', { name: 'Send answers' }).click()
  await expectAccessibleInBoth(page, 'form', 'form')
  await page.getByRole('button', { name: 'Decline' }).click()
  await send(page, 'fail')
  await page.getByRole('button', { name: 'Resume the turn' }).waitFor()
  await expectAccessibleInBoth(page, 'failed', 'failed')
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByRole('button', { name: 'Last turn' }).waitFor()
  await page.getByText('No files differ.').waitFor()
  await expectAccessibleInBoth(page, 'changes')
  await page.getByRole('button', { name: 'Terminals' }).click()
  await page.getByRole('button', { name: 'New terminal' }).click()
  await page.locator('.xterm').waitFor()
  await expectAccessibleInBoth(page, 'terminals')
  expectUnharmed(page)
})

browserTest(
  '[U21] [U40.2] on a phone: the first screen, the list, a chat, an approval and the way back fit into 360 pixels',
  async () => {
    const room = await Room.open()
    writeFileSync(join(room.folder, 'notes.txt'), 'one\ntwo\n')
    const page = await room.page({
      viewport: { width: 360, height: 700 },
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 2,
      colorScheme: 'dark',
    })
    const fits = async () =>
      expect(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth && outside().length'),
      ).toBe(0)
    await page.addScriptTag({ content: '' }).catch(() => {})
    await page.evaluate(`globalThis.outside = () => [...document.querySelectorAll('button, input, textarea, h1, p')]
    .filter((each) => each.checkVisibility() && !each.closest('.tabs, [popover], dialog'))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)`)
    await page.getByLabel('Folder', { exact: true }).waitFor()
    await shot(page, 'phone-first')
    await fits()
    await page.getByRole('button', { name: 'All sessions' }).tap()
    await page.getByText('No sessions yet').waitFor()
    await fits()
    await page.getByRole('button', { name: 'New session' }).tap()
    await page.getByLabel('What shall be done?').fill('edit notes.txt two => three')
    await page.getByRole('button', { name: 'Start' }).tap()
    await page.locator('.diff-row.added').waitFor()
    await shot(page, 'phone-approval')
    await fits()
    await page.getByRole('button', { name: 'Allow once' }).tap()
    await page.locator('.turn-foot').waitFor()
    await page.getByRole('button', { name: 'All sessions' }).tap()
    await page.getByText('edit notes.txt').first().waitFor()
    await shot(page, 'phone-sessions')
    await fits()
    expectUnharmed(page)
  },
)

browserTest(
  '[U21] with the keyboard alone: begin a session, approve, send, and find the menu of a session',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    const focused = () =>
      page.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.innerText')
    /** Presses Tab until something has the focus. */
    const tabTo = async (name: string | RegExp) => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press('Tab')
        if (new RegExp(name).test(String(await focused()))) return
      }
      throw new Error(`Tab does not reach ${String(name)}`)
    }
    await eventually(focused).toBe('What shall be done?')
    await page.keyboard.type('run echo from the keyboard')
    await eventually(() => page.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    await eventually(focused).toBe('Message')
    for (let presses = 0; presses < 40 && String(await focused()) !== 'Allow once'; presses++)
      await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.locator('.turn-foot').waitFor()
    await tabTo('^Message$')
    await page.keyboard.type('say typed')
    await page.keyboard.press('Enter')
    await page.locator('.answer .markdown', { hasText: 'typed' }).waitFor()
    await tabTo('^Actions for run')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Archive' }).waitFor()
    await page.keyboard.press('Escape')
    expectUnharmed(page)
  },
)
