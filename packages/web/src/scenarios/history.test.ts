import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

const slider = (page: Page) => page.getByRole('slider', { name: 'Place in the past' })
const history = (page: Page) => page.getByRole('region', { name: 'History', exact: true })
const place = async (page: Page) => Number(await slider(page).inputValue())
const total = async (page: Page) => Number(await slider(page).getAttribute('max'))

/** A chat with an approved edit and an answer, and its history. */
async function edited(room: Room, options: Parameters<Room['page']>[0] = {}): Promise<Page> {
  writeFileSync(join(room.folder, 'notes.txt'), 'one\ntwo\n')
  const page = await room.page(options)
  await begin(page, 'edit notes.txt two => 2')
  await page.getByRole('button', { name: 'Allow once' }).click()
  await page.locator('.turn-foot').waitFor()
  await send(page, 'say second answer')
  await page.locator('.answer .markdown', { hasText: 'second answer' }).waitFor()
  await eventually(() => page.locator('.turn-foot').count()).toBe(2)
  return page
}

async function openHistory(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'History' }).click()
  await slider(page).waitFor()
  await eventually(async () => (await place(page)) === (await total(page))).toBe(true)
}

/** Opens the history after the page has marked the last turn as read. That is the last action, and it comes late. */
async function openReadHistory(page: Page): Promise<void> {
  await eventually(async () => {
    await openHistory(page)
    const words = (await history(page).locator('.past-words').textContent()) ?? ''
    if (!words.includes('The read mark changed')) await page.getByRole('button', { name: 'Chat' }).click()
    return words
  }).toContain('The read mark changed')
}

browserTest(
  '[U27] [U27.1] the past of a chat is read with a slider and step by step, and the chat stays',
  async () => {
    const room = await Room.open()
    const page = await edited(room)
    await page.getByLabel('Message', { exact: true }).fill('not sent yet')
    await openReadHistory(page)
    const end = await total(page)
    expect(end).toBeGreaterThan(6)
    await history(page).locator('.markdown', { hasText: 'second answer' }).waitFor()
    await shot(page, 'history')
    await slider(page).focus()
    await page.keyboard.press('Home')
    await page.getByText('Nothing had been said here yet').waitFor()
    expect(await history(page).locator('.turn').count()).toBe(0)
    await page.keyboard.press('ArrowRight')
    await history(page).getByText('A message was sent').waitFor()
    expect(await history(page).locator('.turn').count()).toBe(1)
    const allow = history(page).getByRole('button', { name: 'Allow once' })
    for (let i = 0; i < end && !(await allow.isVisible()); i++) {
      const before = await place(page)
      await page.getByRole('button', { name: 'Step forward' }).click()
      await eventually(() => place(page)).toBe(before + 1)
      await history(page)
        .getByText(`${before + 1}. `, { exact: false })
        .first()
        .waitFor()
    }
    expect(await allow.isDisabled()).toBe(true)
    expect(await page.locator('.decisions').count()).toBe(0)
    await shot(page, 'history-approval')
    await page.getByRole('button', { name: 'Step forward' }).click()
    await history(page)
      .getByText(/A tool call was allowed, by Chrome on Linux \(owner\)/)
      .waitFor()
    await page.getByText('One decision up to here').click()
    await history(page).locator('.decisions li', { hasText: 'Allowed' }).waitFor()
    await shot(page, 'history-decision')
    await page.getByRole('button', { name: 'To the end' }).click()
    await history(page).locator('.markdown', { hasText: 'second answer' }).waitFor()
    await page.getByRole('button', { name: 'Chat' }).click()
    expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('not sent yet')
    expect(readFileSync(join(room.folder, 'notes.txt'), 'utf8')).toBe('one\n2\n')
    await openHistory(page)
    expect(await total(page)).toBe(end)
    expectUnharmed(page)
  },
)

/** A script for the page. It notes each place that is shown from now on. Playing may end before a test looks. */
const watchPlaying = `(() => {
  const places = new Set()
  globalThis.played = { places, playing: false }
  const look = () => {
    places.add(Number.parseInt(document.querySelector('.past-place').textContent))
    played.playing ||= document.querySelector('[aria-label="Pause"]') !== null
  }
  new MutationObserver(look)
    .observe(document.querySelector('.past-controls'), { subtree: true, childList: true, characterData: true })
})()`

/** The places that the page has shown since, in their order, and whether the button said “Pause” meanwhile. */
const played = (page: Page) =>
  page.evaluate<{ readonly places: readonly number[]; readonly playing: boolean }>(
    '({ ...played, places: [...played.places] })',
  )

browserTest('[U27] the past plays from the beginning to the end', async () => {
  const room = await Room.open()
  const page = await edited(room)
  await openHistory(page)
  await page.evaluate(watchPlaying)
  await page.getByRole('button', { name: 'Play' }).click()
  await eventually(async () => (await played(page)).places.at(-1) === (await total(page))).toBe(true)
  await page.getByRole('button', { name: 'Play' }).waitFor()
  const { places, playing } = await played(page)
  expect(places).toEqual(Array.from({ length: (await total(page)) + 1 }, (_, at) => at))
  expect(playing).toBe(true)
  await history(page).locator('.markdown', { hasText: 'second answer' }).waitFor()
  await page.getByRole('combobox', { name: 'Step' }).selectOption('10')
  await page.getByRole('button', { name: 'Step back' }).click()
  await eventually(() => place(page)).toBe((await total(page)) - 10)
  expectUnharmed(page)
})

browserTest(
  '[U27] [U27.2] what a truncation has taken away is not in the past, and the page says so',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say first words')
    await page.locator('.turn-foot').waitFor()
    await send(page, 'say secret words')
    await eventually(() => page.locator('.turn-foot').count()).toBe(2)
    await page.getByRole('button', { name: 'Actions for this message' }).last().click()
    await page.getByText('Edit and send again').last().click()
    await eventually(() => page.locator('.turn').count()).toBe(1)
    await openHistory(page)
    await history(page).getByText('Later turns were removed').waitFor()
    await history(page).getByText('What was removed is not shown.').waitFor()
    for (let at = await total(page); at > 0; at--) {
      expect(await history(page).textContent()).not.toContain('secret')
      await slider(page).press('ArrowLeft')
      await eventually(() => place(page)).toBe(at - 1)
    }
    await page.getByText('Nothing had been said here yet').waitFor()
    expectUnharmed(page)
  },
)

browserTest(
  '[U27] [U21] axe objects to nothing in the history, also on 360 pixels, light and dark',
  async () => {
    const room = await Room.open()
    const page = await edited(room, { viewport: { width: 360, height: 700 } })
    await openHistory(page)
    await page.getByText('One decision up to here').click()
    await expectAccessibleInBoth(page, 'history on a phone', 'history-phone')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    await page.setViewportSize({ width: 1280, height: 800 })
    await expectAccessibleInBoth(page, 'history', 'history')
    expectUnharmed(page)
  },
)
