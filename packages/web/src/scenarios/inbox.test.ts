import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, shot, taskField } from '../../test/browser.ts'

/** A script for the page. An answer can be taken back for 5 seconds. From now on this time never ends. */
const endlessUndo = `(() => {
  const later = setTimeout
  globalThis.setTimeout = (task, ms) => later(task, ms === 5000 || ms === 8000 ? 1e9 : ms)
})()`

browserTest(
  '[U58] [U58.1] [U58.2] the inbox: questions of all sessions, answered by keys and taken back, and sent on leaving',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await page.evaluate(endlessUndo)
    const tasks = ['write a.md first', 'write b.md second', 'ask']
    for (const task of tasks) {
      await begin(page, task)
      await page
        .locator('.kept:not(.left)')
        .getByRole('button', { name: task === 'ask' ? 'Decline' : 'Allow once' })
        .waitFor()
    }
    await taskField(page)
    const inbox = page.getByRole('region', { name: 'Inbox', exact: true })
    const entry = (name: string) => inbox.getByRole('listitem', { name: new RegExp(`^${name}`) })
    const project = inbox.getByRole('region', { name: 'Inbox of project' })
    await eventually(() => project.locator('.entry').count()).toBe(3)
    await entry('write a.md').getByRole('button', { name: 'Allow once' }).waitFor()
    await entry('write b.md').locator('.diff-row.added', { hasText: 'second' }).waitFor()
    await shot(page, 'inbox')
    await expectAccessibleInBoth(page, 'inbox')

    // While a person writes a task, the keys of the inbox are letters.
    await page.keyboard.type('y')
    expect(await page.getByLabel('What shall be done?').inputValue()).toBe('y')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Escape')
    await page.keyboard.press('i')
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
    await eventually(focused).toBe('ask: asks')
    await page.keyboard.press('ArrowDown')
    await eventually(focused).toBe('write b.md second: asks')
    await page.keyboard.press('y')
    const notice = page.locator('.notice', { hasText: 'write b.md second: allowed.' })
    await notice.getByRole('button', { name: 'Undo' }).click()
    await entry('write b.md').getByRole('button', { name: 'Allow once' }).waitFor()
    await page.keyboard.press('i')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('d')
    await page.getByText('write b.md second: denied.').waitFor()
    await entry('write a.md').getByRole('button', { name: 'Allow once' }).click()
    await page.getByText('write a.md first: allowed.').waitFor()
    expect(existsSync(join(room.folder, 'a.md'))).toBe(false)
    // A form can be answered in the inbox, too. Leaving the inbox sends the answers that could still be taken back.
    await entry('ask').getByText('6 questions').click()
    await entry('ask').getByRole('button', { name: 'Decline' }).click()
    await page.getByText('ask: declined.').waitFor()
    await entry('write a.md').focus()
    await page.keyboard.press('Enter')
    await page.locator('.kept:not(.left) .turn-foot').waitFor()
    await eventually(() => existsSync(join(room.folder, 'a.md'))).toBe(true)
    expect(existsSync(join(room.folder, 'b.md'))).toBe(false)
    await eventually(() => page.locator('.mood.needs-you').filter({ visible: true }).count()).toBe(0)
    expectUnharmed(page)
  },
)
