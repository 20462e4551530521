import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Room, begin, browserTest, expectUnharmed, shot, writeUntilSuggested } from '../../test/browser.ts'
import { corpus } from '../../test/hostile-texts.ts'
import { hasGit, makeRepository } from '../../test/repository.ts'

const nasty = '<img src=x onerror=owned()>'

browserTest(
  '[U18] [S-42] hostile lines, comments, names of files, suggestions and titles are shown as text',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'notes.txt': 'one\n' })
    const page = await room.page()
    await begin(page, `say ${nasty}`)
    await page.locator('.turn-foot').waitFor()
    writeFileSync(join(room.folder, 'notes.txt'), `one\n${corpus.join('\n')}\n`)
    writeFileSync(join(room.folder, nasty), 'new\n')
    await page.getByRole('button', { name: 'Changes', exact: true }).click()
    const changes = page.getByRole('region', { name: 'Changes', exact: true })
    await changes.getByRole('button', { name: 'Uncommitted' }).click()
    await changes.locator('.diff-row.added', { hasText: '<script>owned()</script>' }).first().waitFor()
    await changes.locator('.diff-row.added', { hasText: '⟨U+202E⟩evil⟨U+202C⟩ and ⟨U+0007⟩ bell' }).waitFor()
    await changes.getByRole('button', { name: /^Comment on lines 2 to/ }).click()
    await changes.getByRole('textbox').fill(corpus.join('\n'))
    await changes.getByRole('button', { name: 'Save' }).click()
    await changes.locator('.comment-text', { hasText: '<iframe srcdoc' }).waitFor()
    await shot(page, 'hostile-review')
    await changes.getByRole('button', { name: 'Commit…' }).click()
    await page.getByRole('dialog').getByLabel(nasty).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Chat', exact: true }).click()
    const suggestion = page.locator('.suggestions').getByRole('option').first()
    await writeUntilSuggested(page, '@onerror', suggestion)
    await suggestion.click()
    await page.locator('.composer .attached').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: `say ${nasty}` }).waitFor()
    expect(await page.locator('img, iframe, script:not([src])').count()).toBe(0)
    expectUnharmed(page)
  },
  { git: hasGit },
)
