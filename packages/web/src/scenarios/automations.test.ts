import { expect } from 'vitest'
import { clockAhead } from '../../../cli/test/clock-ahead.ts'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, browserTest, eventually, expectUnharmed, shot } from '../../test/browser.ts'

const hourMs = 3_600_000

browserTest(
  '[U62] [U62.1] [U62.2] [U62.3] [U62.4] automations: created by a phrase, run, edited, paused and deleted; a killed host shows what was missed',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await page.getByRole('button', { name: 'Automations' }).click()
    await page.getByText('Nothing runs by itself yet').waitFor()
    await shot(page, 'automations-empty')

    await page.getByRole('button', { name: 'New automation' }).click()
    const dialog = page.getByRole('dialog', { name: 'New automation' })
    await dialog.getByLabel('Task').fill('say good morning\nand look around')
    await dialog.getByLabel('When', { exact: true }).fill('noon')
    await dialog.getByText('“noon” is no time').waitFor()
    const save = dialog.getByRole('button', { name: 'Create' })
    expect(await save.isDisabled()).toBe(true)
    await dialog.getByLabel('When', { exact: true }).fill('every 15 minutes')
    await dialog.getByLabel('Time zone').fill('Mars/Olympus')
    await dialog.getByText('there is no time zone').waitFor()
    await dialog.getByLabel('Time zone').fill('UTC')
    await dialog.getByText('Next:').waitFor()
    await dialog.getByText('More', { exact: true }).click()
    await dialog.getByLabel('When the host was away at the time').selectOption('run nothing')
    await expectAccessibleInBoth(page, 'form of an automation', 'automation-form')
    await save.click()
    const card = page.getByRole('listitem', { name: 'say good morning' })
    await card.getByText('every 15 minutes').waitFor()
    await card.getByText('Next', { exact: true }).waitFor()

    await card.getByRole('button', { name: 'Run now' }).click()
    await card.locator('.automation-facts').getByText('completed').waitFor()
    await card.getByText('History').click()
    const history = card.locator('.automation-history')
    await history.getByText('by hand').waitFor()

    // The host is killed, instants fall due, and it is started again.
    await room.host.kill()
    await room.start([], clockAhead(2 * hourMs))
    await history.getByText(/^\d runs until .*: the host was not running$/).waitFor()
    await card.getByText(/^\d runs, the last/).waitFor()
    await expectAccessibleInBoth(page, 'automations', 'automations')
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await shot(page, 'automations-phone')
    await card.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: 'Edit the automation' })
    await shot(page, 'automation-form-phone')
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(await form.getByLabel('When', { exact: true }).inputValue()).toBe('every 15 minutes')
    await form.getByLabel('When', { exact: true }).fill('weekdays 9:30')
    await form.getByText('More', { exact: true }).click()
    await form.getByLabel('Title').fill('Morning')
    await form.getByRole('button', { name: 'Save' }).click()
    const morning = page.getByRole('listitem', { name: 'Morning' })
    await morning.getByText('weekdays 9:30').waitFor()

    await morning.getByRole('button', { name: 'Pause' }).click()
    await morning.getByText('paused').waitFor()
    expect(await morning.getByText('Next', { exact: true }).count()).toBe(0)
    await morning.getByRole('button', { name: 'Resume' }).click()
    await morning.getByText('Next', { exact: true }).waitFor()
    // A tag leads to the session of the run.
    await morning.locator('.automation-history').getByText('completed').first().click()
    await page.locator('.kept:not(.left) .message', { hasText: 'and look around' }).waitFor()
    await page.goBack()
    await morning.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('Nothing runs by itself yet').waitFor()
    await eventually(() =>
      page.locator('.session-title', { hasText: 'good morning' }).count(),
    ).toBeGreaterThan(0)
    expectUnharmed(page)
  },
)
