import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import {
  Room,
  begin,
  browserTest,
  endlessTurn,
  eventually,
  expectUnharmed,
  send,
  shot,
} from '../../test/browser.ts'

browserTest(
  '[U17] two pages show one turn live; the second one approves, and the first sees who did',
  async () => {
    const room = await Room.open()
    writeFileSync(join(room.folder, 'notes.txt'), 'one\ntwo\n')
    const ann = await room.page()
    const ben = await room.page()
    await begin(ann, 'edit notes.txt two => three')
    await ann.getByRole('button', { name: 'Allow once' }).waitFor()
    await ben.getByText('Waits for you').waitFor()
    await shot(ben, 'needs-you')
    await ben.getByText('edit notes.txt').first().click()
    await ben.locator('.diff-row.removed', { hasText: 'two' }).waitFor()
    await ben.locator('.diff-row.added', { hasText: 'three' }).waitFor()
    await shot(ben, 'approval')
    await ben.getByText(/Chrome on/).waitFor()
    await ben.getByRole('button', { name: 'Allow once' }).click()
    await ann.getByText(/allowed by Chrome on \w+ \(owner\)/).waitFor()
    expect(await ann.getByRole('button', { name: 'Allow once' }).count()).toBe(0)

    await send(ben, 'say **the same** words')
    for (const page of [ann, ben]) await page.locator('strong', { hasText: 'the same' }).waitFor()
    expectUnharmed(ann, ben)
  },
)

browserTest('[U17] [U17.1] drafts of a form are shared, and a required answer is asked for', async () => {
  const room = await Room.open()
  const ann = await room.page()
  await begin(ann, 'ask about lunch')
  const form = ann.getByRole('form', { name: 'Questions of the agent' })
  await form.waitFor()
  const ben = await room.page()
  await ben.getByText('ask about lunch').first().click()
  await ann.getByLabel('What shall it be called?').fill('Soup')
  await eventually(() => ben.getByLabel('What shall it be called?').inputValue()).toBe('Soup')
  await ben.getByLabel('What shall it be called?').fill('')
  await eventually(() => ann.getByLabel('What shall it be called?').inputValue()).toBe('')
  await shot(ann, 'form')
  await ann.getByRole('button', { name: 'Send answers' }).click()
  await ann.getByText('This one must be answered.').first().waitFor()
  await ann.getByLabel('What shall it be called?').fill('Stew')
  await ann.getByLabel('Small').check()
  await ann.getByLabel('A box').check()
  await ann.getByRole('button', { name: 'Send answers' }).click()
  for (const page of [ann, ben]) await page.locator('.form.answered', { hasText: 'Stew' }).waitFor()
  expectUnharmed(ann, ben)
})

browserTest(
  '[U17] [U17.1] an answer that was typed just before the form leaves the screen is not lost',
  async () => {
    const room = await Room.open()
    const ann = await room.stranger()
    // The pause after which an answer is sent never ends on this page.
    await ann.addInitScript(() => {
      const later = setTimeout
      const patient = (task: () => void, ms?: number) => later(task, ms === 400 ? 1e9 : ms)
      globalThis.setTimeout = patient as typeof setTimeout
    })
    await ann.goto(await room.link())
    await ann.getByText('Live', { exact: true }).waitFor()
    await begin(ann, 'ask about lunch')
    const name = ann.getByLabel('What shall it be called?')
    await name.fill('Soup')
    await ann.getByRole('button', { name: 'Changes' }).click()
    await name.waitFor({ state: 'detached' })
    const ben = await room.page()
    await ben.getByText('ask about lunch').first().click()
    await eventually(() => ben.getByLabel('What shall it be called?').inputValue()).toBe('Soup')
    await ann.getByRole('button', { name: 'Chat', exact: true }).click()
    await eventually(() => name.inputValue()).toBe('Soup')
    expectUnharmed(ann, ben)
  },
)

browserTest(
  '[U17] [U17.1] an answer stays in its field while the page that has sent it draws late',
  async () => {
    const room = await Room.open()
    const ben = await room.page()
    const ann = await room.stranger()
    // A slow machine: each frame comes half a second late, after the host has accepted what was typed before it.
    await ann.addInitScript(() => {
      const frame = requestAnimationFrame
      globalThis.requestAnimationFrame = (task) => window.setTimeout(() => frame(task), 500)
    })
    await ann.goto(await room.link())
    await ann.getByText('Live', { exact: true }).waitFor()
    await begin(ann, 'ask about lunch')
    const name = ann.getByLabel('What shall it be called?')
    await name.waitFor()
    const seen = name.evaluate(
      (field: HTMLInputElement) =>
        new Promise<readonly string[]>((resolve) => {
          const values = new Set<string>()
          const look = setInterval(() => {
            if (field.value !== '' || values.size > 0) values.add(field.value)
            if (field.value !== 'Soup and bread') return
            clearInterval(look)
            resolve([...values])
          }, 5)
        }),
    )
    await name.fill('Soup')
    await ben.getByText('ask about lunch').first().click()
    const shared = ben.getByLabel('What shall it be called?')
    await eventually(() => shared.inputValue()).toBe('Soup')
    // The answer of somebody else replaces the one that was typed.
    await shared.fill('Soup and bread')
    expect(await seen).toEqual(['Soup', 'Soup and bread'])
    expectUnharmed(ann, ben)
  },
)

browserTest('[U17] a reload in the middle of a turn shows the same turn, which goes on', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'slow 12')
  const words = () => page.locator('.answer .markdown').innerText()
  await eventually(async () => (await words()).split(' ').length).toBeGreaterThan(2)
  const before = await words()
  await page.reload()
  await page.locator('.answer .markdown').waitFor()
  expect(await words()).toContain(before)
  await page.locator('.turn-foot').waitFor()
  expect((await words()).split(' ').length).toBe(12)
  expectUnharmed(page)
})

browserTest('[U16] a refused message comes back into its field, with the reason', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'say first')
  await page.locator('.turn-foot').waitFor()
  await room.host.stop()
  await room.start(['--read-only'])
  await page.reload()
  await page.getByText('first').first().waitFor()
  await send(page, 'say nobody hears this')
  await page.getByText('The message was not sent:').waitFor()
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('say nobody hears this')
  await shot(page, 'refused')
})

browserTest(
  '[U17.2] messages wait in a queue that can be changed, and the page says when the agent gets them',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, endlessTurn)
    await page.getByRole('button', { name: 'Queue' }).waitFor()
    await send(page, 'say second')
    await send(page, 'say third')
    const queue = page.getByRole('region', { name: 'Waiting messages' })
    await queue.getByText('say third').waitFor()
    await queue.getByRole('button', { name: 'Move to the front' }).click()
    await eventually(() => queue.locator('.queued-text').allInnerTexts()).toEqual(['say third', 'say second'])
    await page.getByLabel('Message', { exact: true }).fill('be brief')
    await page.keyboard.press('Control+Enter')
    // The guide takes no messages while it works.
    await queue.getByText('after this turn').waitFor()
    expect(await page.getByRole('button', { name: 'Into this turn' }).count()).toBe(0)
    await shot(page, 'queue')
    await queue.getByRole('button', { name: 'Remove' }).last().click()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('cancelled').waitFor()
    await queue.getByRole('button', { name: 'Send the next one' }).click()
    await queue.waitFor({ state: 'detached' })
    await page.locator('.answer .markdown', { hasText: 'third' }).waitFor()
    expectUnharmed(page)
  },
)

browserTest('[U17] a failed turn says why and is resumed; a worker has a chat of its own', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'fail the disk is gone')
  await page.getByRole('button', { name: 'Resume the turn' }).click()
  await page.getByRole('button', { name: 'Resume the turn' }).waitFor({ state: 'detached' })
  await page.locator('.turn-foot').waitFor()
  await send(page, 'spawn say from the worker')
  const tabs = page.getByRole('navigation', { name: 'Chats of this session' })
  await tabs.getByText('say from the worker').click()
  await page.locator('.answer .markdown', { hasText: 'from the worker' }).waitFor()
  await page.goBack()
  await page.getByText('The worker is done').waitFor()
  expectUnharmed(page)
})
