import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

browserTest(
  '[U23] [U23.1] [U30.2] the changes of a turn are shown, marked as read, and undone; after a turn without any, those of the session are shown',
  async () => {
    const room = await Room.open()
    const notes = join(room.folder, 'notes.txt')
    writeFileSync(notes, 'one\ntwo\nthree\n')
    const page = await room.page()
    await begin(page, 'edit notes.txt two => 2')
    await page.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.turn-foot').waitFor()
    expect(readFileSync(notes, 'utf8')).toBe('one\n2\nthree\n')
    await page.getByLabel('Message', { exact: true }).fill('not sent yet')
    await page.getByRole('button', { name: 'Changes' }).click()
    const changes = page.getByRole('region', { name: 'Changes', exact: true })
    await changes.locator('.diff-row.removed', { hasText: 'two' }).waitFor()
    await changes.locator('.diff-row.added', { hasText: '2' }).waitFor()
    await shot(page, 'changes')
    await changes.getByLabel('Reviewed', { exact: true }).check()
    await changes.locator('.changed.reviewed').waitFor()
    await changes.getByRole('button', { name: /^Undo/ }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: /^Undo/ }).click()
    await eventually(() => readFileSync(notes, 'utf8')).toBe('one\ntwo\nthree\n')
    await page
      .getByRole('status')
      .filter({ hasText: /set back|undone|taken back|1 file/i })
      .waitFor()
    await page.getByRole('button', { name: 'Chat' }).click()
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet')
    await send(page, 'say still here')
    await page.locator('.answer .markdown', { hasText: 'still here' }).waitFor()

    for (const [turns, text] of ['write z.ts let z = 1', 'write src/a.ts const a = 2'].entries()) {
      await send(page, text)
      await page.getByRole('button', { name: 'Allow once' }).click()
      await eventually(() => page.locator('.turn-foot').count()).toBe(turns + 3)
    }
    await page.locator('.edit .hl-keyword', { hasText: 'const' }).waitFor()
    await send(page, 'say nothing is changed')
    await eventually(() => page.locator('.turn-foot').count()).toBe(5)
    await page.getByRole('button', { name: 'Changes' }).click()
    await changes.locator('.diff-row.added .hl-keyword', { hasText: 'let' }).waitFor()
    const shown =
      await page.evaluate(`[...document.querySelectorAll('.changes .scopes:first-child button')].map(
      (each) => [each.firstChild.data, each.getAttribute('aria-description'), each.getAttribute('aria-pressed')])`)
    expect(shown).toEqual([
      ['Last turn', '0 files', 'false'],
      ['This session', '2 files', 'true'],
    ])
    expect(await changes.locator('.changed-path').allInnerTexts()).toEqual(['src/a.ts', 'z.ts'])
    expect(await changes.locator('.file-tree button span:not(.plus, .minus)').allInnerTexts()).toEqual([
      'a.ts',
      'z.ts',
    ])
    await shot(page, 'changes-of-session')
    await expectAccessibleInBoth(page, 'coloured changes')
    expectUnharmed(page)
  },
)
