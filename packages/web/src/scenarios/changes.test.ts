import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

browserTest('[U23] the changes of a turn are shown, marked as read, and undone', async () => {
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
  expectUnharmed(page)
})
