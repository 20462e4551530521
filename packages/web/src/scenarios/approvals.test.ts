import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

/** A command of 61 lines. The one that does something stands where the card has no room. */
const long = [
  ...Array.from({ length: 40 }, (_, at) => `# comment ${at + 1}`),
  'touch hidden',
  ...Array.from({ length: 20 }, (_, at) => `# more ${at + 1}`),
].join('\n')

browserTest(
  '[U53] [U53.1] a long command is asked about again until all of it was on the screen, and is not allowed for always',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, `run ${long}`)
    const answers = page.getByRole('group', { name: 'Answers' })
    const allow = answers.getByRole('button', { name: 'Allow once' })
    await allow.waitFor()
    await page.getByText(/\d+ lines were never on the screen/).waitFor()
    expect(await answers.getByRole('button', { name: /always|session|folder/i }).count()).toBe(0)
    await allow.click()
    const again = page.getByRole('dialog', { name: 'Not all of this was on the screen' })
    await again.getByText(/^\d+ lines were never on the screen\. Allow all of it\?$/).waitFor()
    await shot(page, 'unseen-lines')
    await expectAccessibleInBoth(page, 'unseen lines')
    await again.getByRole('button', { name: 'Back' }).click()
    expect(existsSync(join(room.folder, 'hidden'))).toBe(false)

    await page.getByRole('button', { name: 'Show all 61 lines' }).click()
    await eventually(async () => {
      await page.locator('.timeline').evaluate((each) => each.scrollBy(0, 200))
      await page.locator('.timeline').evaluate((each) => each.scrollBy(0, -120))
      return page.getByText('were never on the screen').count()
    }).toBe(0)
    await answers
      .getByRole('button', { name: /always|session|folder/i })
      .first()
      .waitFor()
    await shot(page, 'seen-lines')
    await allow.click()
    await page.locator('.turn-foot').waitFor()
    expect(existsSync(join(room.folder, 'hidden'))).toBe(true)
    expectUnharmed(page)
  },
)

browserTest(
  '[U53] [U54] a short command is allowed with one click; a finished change shows its input on request',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'run touch seen')
    const answers = page.getByRole('group', { name: 'Answers' })
    await answers
      .getByRole('button', { name: /always|session|folder/i })
      .first()
      .waitFor()
    await answers.getByRole('button', { name: 'Allow once' }).click()
    await page.locator('.turn-foot').waitFor()
    expect(existsSync(join(room.folder, 'seen'))).toBe(true)
    await send(page, `write notes.txt ${Array.from({ length: 90 }, (_, at) => `line ${at}`).join('\n')}`)
    await page.getByText(/\d+ lines were never on the screen/).waitFor()
    await answers.getByRole('button', { name: 'Allow once' }).click()
    const again = page.getByRole('dialog')
    expect(await again.locator('.button.primary').innerText()).toBe('Back')
    await again.getByRole('button', { name: 'Allow unseen' }).click()
    await page.locator('.turn-foot').nth(1).waitFor()
    expect(existsSync(join(room.folder, 'notes.txt'))).toBe(true)
    const card = page.locator('.tool').last()
    expect(await card.locator('.tool-input').isVisible()).toBe(false)
    await card.getByText('Input of write').click()
    await card.locator('.tool-input').getByText('line 89').waitFor()
    expectUnharmed(page)
  },
)
