import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { atrium } from '../../../cli/test/command.ts'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

/** A page of a device with a role, by a code of `atrium devices add`. */
async function pageAs(room: Room, role: string): Promise<Page> {
  const { stdout } = await atrium(room.home, ['devices', 'add', role, '--role', role, '--json'])
  const { code } = JSON.parse(stdout) as { readonly code: string }
  const page = await room.stranger()
  await page.goto(`${room.address}#code=${code}`)
  await page.getByText('Live', { exact: true }).waitFor()
  return page
}

browserTest(
  '[U37] a page shows only what its role allows, says what it may not do, and is never refused',
  async () => {
    const room = await Room.open()
    writeFileSync(join(room.folder, 'notes.txt'), 'one\ntwo\n')
    const owner = await room.page()
    await begin(owner, 'edit notes.txt two => three')
    await owner.getByRole('button', { name: 'Allow once' }).waitFor()
    const [watch, prompt, approve] = [
      await pageAs(room, 'watch'),
      await pageAs(room, 'prompt'),
      await pageAs(room, 'approve'),
    ]
    for (const page of [watch, prompt]) {
      await page.getByRole('region', { name: 'Waits for an answer' }).getByText('edit notes.txt').waitFor()
      expect(await page.getByText(/needs you|waits for you/i).count()).toBe(0)
      expect(await page.title()).not.toMatch(/^\(/)
    }
    for (const page of [owner, approve]) {
      await page.getByRole('region', { name: 'Needs you' }).getByText('edit notes.txt').waitFor()
      await eventually(() => page.title()).toMatch(/^\(1\) /)
    }
    for (const page of [watch, prompt, approve]) {
      await page.getByText('edit notes.txt').first().click()
      await page.locator('.diff-row.added', { hasText: 'three' }).waitFor()
    }
    const note = (page: Page, words: string) => page.getByText(`This device may not ${words}`).first()
    await note(watch, 'write messages or begin sessions').waitFor()
    await note(watch, 'answer this').waitFor()
    expect(
      await watch.getByRole('button', { name: /New session|Allow once|^Actions for edit|Stop/ }).count(),
    ).toBe(0)
    expect(await watch.getByLabel('Message', { exact: true }).count()).toBe(0)
    await shot(watch, 'role-watch')
    await expectAccessibleInBoth(watch, 'watching')
    await note(prompt, 'answer this').waitFor()
    expect(await prompt.getByRole('button', { name: 'Allow once' }).count()).toBe(0)
    await send(prompt, 'say queued by prompt')
    await owner.getByRole('region', { name: 'Waiting messages' }).getByText('say queued by prompt').waitFor()
    await prompt.getByRole('button', { name: 'Actions for edit notes.txt two => three' }).click()
    await prompt.getByRole('button', { name: 'Rename' }).waitFor()
    expect(await prompt.getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await prompt.keyboard.press('Escape')
    await approve.getByRole('button', { name: 'Allow once' }).click()
    await owner
      .getByText(/allowed by .*/)
      .first()
      .waitFor()
    await owner.locator('.answer .markdown', { hasText: 'queued by prompt' }).waitFor()

    await send(owner, 'ask')
    await note(prompt, 'answer this').waitFor()
    expect(await prompt.getByLabel('What shall it be called?').isDisabled()).toBe(true)
    // The question reaches each page in its own time.
    await eventually(() => approve.getByRole('button', { name: 'Decline' }).count()).toBe(1)
    await approve.getByRole('button', { name: 'Decline' }).click()
    for (const page of [watch, approve]) {
      await page.getByRole('button', { name: 'Terminals' }).click()
      await note(page, 'open terminals').waitFor()
      expect(await page.getByRole('button', { name: 'New terminal' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Changes', exact: true }).click()
      await page.getByRole('button', { name: 'This session' }).click()
      await page.locator('.diff-row.added', { hasText: 'three' }).waitFor()
      expect(await page.getByRole('button', { name: /Undo|Commit|Discard/ }).count()).toBe(0)
    }
    expect(await watch.getByRole('button', { name: 'Comment', exact: true }).count()).toBe(0)
    expect(await watch.getByLabel('Reviewed', { exact: true }).isDisabled()).toBe(true)
    await approve.getByRole('button', { name: 'Comment', exact: true }).click()
    await approve.getByRole('textbox', { name: 'Comment on the file' }).fill('By a device')
    await approve.getByRole('button', { name: 'Save' }).click()
    await eventually(() => watch.getByRole('region', { name: 'Comment: By a device' }).count()).toBe(1)
    for (const page of [watch, prompt, approve])
      expect(await page.getByText(/refused|needs the role \w+;/).count()).toBe(0)
    expectUnharmed(owner, watch, prompt, approve)
  },
)
