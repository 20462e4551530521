import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
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
  '[U38] a chat is forked from a turn, and an earlier message is edited and sent again',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say first')
    await page.locator('.turn-foot').waitFor()
    await send(page, 'say second')
    await eventually(() => page.locator('.turn-foot').count()).toBe(2)
    await send(page, 'say third')
    await eventually(() => page.locator('.turn-foot').count()).toBe(3)
    const messages = () => page.locator('.message-text').allInnerTexts()
    const pick = async (turn: number, item: string) => {
      await page.getByRole('button', { name: 'Actions for this message' }).nth(turn).click()
      await page.getByRole('button', { name: item }).filter({ visible: true }).click()
    }
    await pick(1, 'Fork from here')
    await eventually(messages).toEqual(['say first', 'say second'])
    const tabs = page.getByRole('navigation', { name: 'Chats of this session' })
    await tabs.getByText('Fork: say first').waitFor()
    await shot(page, 'fork')
    await expectAccessibleInBoth(page, 'fork')
    await tabs.getByRole('button').first().click()
    await eventually(messages).toEqual(['say first', 'say second', 'say third'])
    await pick(1, 'Edit and send again')
    const field = page.getByLabel('Message', { exact: true })
    await eventually(() => field.inputValue()).toBe('say second')
    await eventually(messages).toEqual(['say first'])
    await field.fill('say better')
    await page.keyboard.press('Enter')
    await page.locator('.answer .markdown', { hasText: 'better' }).waitFor()
    expect(await messages()).toEqual(['say first', 'say better'])
    expectUnharmed(page)
  },
)

browserTest(
  '[U39] the input of a tool is edited before it runs, and the agent runs what was allowed',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'run touch proposed.txt')
    await page.getByRole('button', { name: 'Edit first' }).click()
    await page.getByLabel('Input of the tool').fill('touch edited.txt')
    await shot(page, 'edited-input')
    await expectAccessibleInBoth(page, 'edited input')
    await page.getByRole('button', { name: /as edited$/ }).click()
    await page.locator('.turn-foot').waitFor()
    expect(readdirSync(room.folder)).toEqual(['edited.txt'])
    expectUnharmed(page)
  },
)

browserTest('[U39] a result waits for approval, and is denied or used', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'review 5')
  await page.getByText('May the agent use this result?').waitFor()
  await shot(page, 'result')
  await expectAccessibleInBoth(page, 'result')
  await page.getByRole('button', { name: 'Deny the result' }).click()
  await page.locator('.turn-foot').waitFor()
  await page.getByText(/result denied by/).waitFor()
  await send(page, 'review 4')
  await page.getByRole('button', { name: 'Use it' }).click()
  await eventually(() => page.locator('.turn-foot').count()).toBe(2)
  await page.getByText(/result allowed by/).waitFor()
  expectUnharmed(page)
})

browserTest(
  '[U39] a tool waits for a sign-in; a token goes on, and so does a person without one',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'login')
    await page.getByLabel('Token').waitFor()
    await shot(page, 'sign-in')
    await expectAccessibleInBoth(page, 'sign-in')
    expect(await page.getByRole('button', { name: 'Sign in' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Go on without' }).click()
    await page.locator('.turn-foot').waitFor()
    await send(page, 'login')
    await page.getByLabel('Token').fill('any-token-will-do')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await eventually(() => page.locator('.turn-foot').count()).toBe(2)
    expect(await page.content()).not.toContain('any-token-will-do')
    expectUnharmed(page)
  },
)

browserTest('[U40] a model and settings are chosen for a new session, and the agent gets them', async () => {
  const room = await Room.open()
  const page = await room.page()
  await page.getByLabel('What shall be done?').fill('hello')
  const task = page.getByRole('form', { name: 'New session' })
  const models = task.getByRole('combobox', { name: 'Model', exact: true })
  await models.selectOption({ index: 2 })
  const model = await models.inputValue()
  for (const name of ['Settings of the model', 'More settings']) await task.getByText(name).click()
  await shot(page, 'settings')
  await expectAccessibleInBoth(page, 'settings')
  await task.getByLabel('Tone').selectOption({ label: 'Brief' })
  await task.getByRole('button', { name: 'Start' }).click()
  await page.locator('.turn-foot').waitFor()
  // The brief tone leaves out the greeting of the guide.
  await page.locator('.answer .markdown', { hasText: 'You asked' }).waitFor()
  expect(await page.getByText('Hello, I am the guide').count()).toBe(0)
  expect(await page.locator('.turn-foot').innerText()).toContain(model)
  expectUnharmed(page)
})

browserTest(
  '[U17] [U21.2] waiting messages are moved to the front, edited in the field, and removed',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, endlessTurn)
    await page.getByRole('button', { name: 'Queue' }).waitFor()
    const moving = () => page.evaluate(() => document.getAnimations().length)
    await eventually(moving).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await eventually(moving).toBe(0)
    for (const text of ['say one', 'say two', 'say three']) await send(page, text)
    const queue = page.getByRole('region', { name: 'Waiting messages' })
    const texts = () => queue.locator('.queued-text').allInnerTexts()
    await eventually(texts).toEqual(['say one', 'say two', 'say three'])
    await queue.getByRole('listitem').nth(2).getByRole('button', { name: 'Move to the front' }).click()
    await eventually(texts).toEqual(['say three', 'say one', 'say two'])
    await queue.getByRole('listitem').nth(1).getByRole('button', { name: 'Edit' }).click()
    await eventually(texts).toEqual(['say three', 'say two'])
    const field = page.getByLabel('Message', { exact: true })
    await eventually(() => field.inputValue()).toBe('say one')
    await field.fill('say one, edited')
    await page.keyboard.press('Enter')
    await eventually(texts).toEqual(['say three', 'say two', 'say one, edited'])
    await queue.getByRole('listitem').nth(1).getByRole('button', { name: 'Remove' }).click()
    await eventually(texts).toEqual(['say three', 'say one, edited'])
    await page.getByRole('button', { name: 'Stop' }).click()
    expectUnharmed(page)
  },
)
