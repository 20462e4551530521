import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  shot,
  writeUntilSuggested,
} from '../../test/browser.ts'
import { hasGit, makeRepository } from '../../test/repository.ts'

browserTest(
  '[U21] [U21.1] on a phone: conflicts, comments, a commit, suggestions and the palette fit into 360 pixels',
  async () => {
    const room = await Room.open()
    makeRepository(room.folder, { 'a-file-with-a-rather-long-name-for-a-phone.txt': 'before\n' })
    const page = await room.page({
      viewport: { width: 360, height: 700 },
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 2,
    })
    /** Expects that nothing is cut off at the right edge. */
    const fits = async (screen: string) => {
      const outside =
        await page.evaluate(`[...document.querySelectorAll('button, input, textarea, p, li, label')]
        .filter((each) => each.checkVisibility() && !each.closest('.tabs, .notices'))
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
        .map((each) => each.outerHTML.slice(0, 200))`)
      expect({ screen, outside }).toEqual({ screen, outside: [] })
      await shot(page, `phone-${screen}`)
      await expectAccessibleInBoth(page, screen)
    }
    await begin(page, 'run sed -i s/before/after/ a-file-with-a-rather-long-name-for-a-phone.txt')
    await page.getByRole('button', { name: 'Allow once' }).tap()
    await page.locator('.turn-foot').waitFor()
    appendFileSync(join(room.folder, 'a-file-with-a-rather-long-name-for-a-phone.txt'), 'by a person\n')
    await page.getByRole('button', { name: 'Changes', exact: true }).tap()
    await page.getByRole('region', { name: 'Conflicts of an undo' }).waitFor()
    await fits('conflicts')
    await page.getByRole('button', { name: 'Uncommitted' }).tap()
    await page.getByRole('button', { name: /^Comment on lines 1 to 2/ }).tap()
    await page.getByRole('textbox', { name: /^Comment on lines/ }).fill('A word about these lines')
    await page.getByRole('button', { name: 'Save' }).tap()
    await page.getByRole('button', { name: 'Reply' }).tap()
    await fits('comments')
    /** The smaller side of the smallest of these elements, in pixels. */
    const smallest = (selector: string) =>
      page.evaluate<number>(`Math.min(...[...document.querySelectorAll('${selector}')]
        .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect())
        .flatMap(({ width, height }) => [width, height]))`)
    expect(await smallest('.changes input[type=checkbox]')).toBeGreaterThanOrEqual(20)
    expect(await smallest('button.diff-number')).toBeGreaterThanOrEqual(24)
    await page.getByRole('button', { name: 'Commit…' }).tap()
    await page.getByLabel('Commit message').fill('A message')
    await fits('commit')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Chat', exact: true }).tap()
    // A laptop at 200 % zoom has such a window.
    await page.setViewportSize({ width: 640, height: 360 })
    await eventually(() => page.evaluate('document.querySelector(".timeline").clientHeight')).toBeGreaterThan(
      250,
    )
    await fits('low')
    await page.setViewportSize({ width: 360, height: 700 })
    await writeUntilSuggested(page, '@file', page.locator('.suggestions').getByRole('option').first())
    await fits('suggestions')
    await page.locator('.suggestions').getByRole('option').first().tap()
    await page.locator('.composer .attached').waitFor()
    await page.getByRole('button', { name: 'All sessions' }).tap()
    await page.getByRole('button', { name: 'Find a session or an action' }).tap()
    await page.getByRole('dialog').getByRole('combobox').waitFor()
    await fits('palette')
    expectUnharmed(page)
  },
  { git: hasGit },
)
