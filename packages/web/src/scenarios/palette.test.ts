import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import {
  Room,
  begin,
  browserTest,
  endlessTurn,
  eventually,
  expectUnharmed,
  messageField,
  send,
  shot,
} from '../../test/browser.ts'

browserTest(
  '[U36] [U36.2] the palette finds sessions, actions and agents, acts on the open session, and keys alone reach them',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say one')
    await page.locator('.turn-foot').waitFor()
    const heading = () => page.getByRole('heading', { level: 1 }).innerText()
    await begin(page, 'say two')
    // The first session is shown until the second one opens. A message must not be written there.
    await eventually(heading).toBe('say two')
    // The first session is still in the document, and is not shown.
    const feet = page.locator('.turn-foot').filter({ visible: true })
    await feet.waitFor()
    await send(page, 'say a melancholy word')
    await eventually(() => feet.count()).toBe(2)
    const field = page.getByRole('combobox', { name: 'Find a session or an action' })
    const focused = () => page.evaluate('document.activeElement.getAttribute("role")')
    const find = async (words: string) => {
      // A palette that is closing takes keys, too.
      await field.waitFor({ state: 'detached' })
      await page.keyboard.press('Control+k')
      await eventually(focused).toBe('combobox')
      await page.keyboard.type(words)
    }
    await find('session one')
    await eventually(() => page.getByRole('dialog').getByRole('option').count()).toBe(1)
    await shot(page, 'palette')
    await expectAccessibleInBoth(page, 'palette')
    await page.keyboard.press('Enter')
    await eventually(heading).toBe('say one')
    await find('melancholy')
    await page
      .getByRole('option', { name: /Text in say two/ })
      .first()
      .click()
    await eventually(heading).toBe('say two')
    await find('no such thing')
    await page.getByText('Nothing was found.').waitFor()
    await page.keyboard.press('Escape')
    await find('show changes')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Changes', exact: true }).waitFor()
    await find('this session rename')
    await page.keyboard.press('Enter')
    await page.getByLabel('Title').fill('renamed')
    await page.keyboard.press('Enter')
    await eventually(heading).toBe('renamed')
    // The addresses of the list are those of the page.
    const href = `document.querySelector('.session.selected a').getAttribute('href')`
    expect(new URL(page.url()).hash.split('/').slice(0, 3).join('/')).toBe(await page.evaluate(href))
    // The sidebar alone has the state of the link.
    expect(await page.locator('.link .dot').filter({ visible: true }).count()).toBe(1)
    await find('show chat')
    await page.keyboard.press('Enter')
    await messageField(page).waitFor()
    await find('model lively')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Not with Guide, lively' }).waitFor()
    await send(page, 'write a.txt one')
    await page.getByRole('button', { name: 'Allow once' }).click()
    await eventually(() => feet.count()).toBe(3)
    expect(await feet.nth(2).innerText()).toContain('lively')
    await find('undo last turn')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: /^Undo/ }).click()
    await eventually(() => existsSync(join(room.folder, 'a.txt'))).toBe(false)
    await find('show chat')
    await page.keyboard.press('Enter')
    await send(page, endlessTurn)
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await find('stop turn')
    await page.keyboard.press('Enter')
    await eventually(() => feet.count()).toBe(4)
    await find('fork this chat')
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Chats of this session' }).getByText(/^Fork/).waitFor()
    await find('archive this session')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Show 1 archived' }).waitFor()
    await find('new session with')
    await page.getByRole('option', { name: /Atrium Guide/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('What shall be done?').waitFor()
    await page.keyboard.press('Escape')
    expectUnharmed(page)
  },
)

browserTest('[U36] [U36.1] a text that the host has not indexed yet is found as soon as it is', async () => {
  const room = await Room.open()
  const page = await room.stranger()
  let answers = 0
  // The index is made slow: the first two searches find nothing, and say that a session is not indexed yet.
  await page.routeWebSocket(/./, (near) => {
    const asked = new Set<unknown>()
    const host = near.connectToServer()
    near.onMessage((text) => {
      const { id, method } = JSON.parse(String(text)) as { readonly id?: unknown; readonly method?: string }
      if (method === 'x-atrium/search') asked.add(id)
      host.send(text)
    })
    host.onMessage((text) => {
      const message = JSON.parse(String(text)) as { readonly id?: unknown; readonly result?: object }
      const isEarly = message.result !== undefined && asked.has(message.id) && ++answers <= 2
      near.send(isEarly ? JSON.stringify({ ...message, result: { items: [], pending: 1 } }) : text)
    })
  })
  await page.goto(await room.link())
  await page.getByText('Live', { exact: true }).waitFor()
  await begin(page, 'say a melancholy word')
  await page.locator('.turn-foot').waitFor()
  await page.getByRole('button', { name: 'Find a session or an action' }).click()
  await page.getByRole('dialog').getByRole('combobox').fill('melancholy word')
  await page
    .getByRole('option', { name: /Text in say a melancholy word/ })
    .first()
    .waitFor()
  expect(answers).toBeGreaterThan(2)
  expectUnharmed(page)
})

browserTest('[U36] shortcuts are listed, act where nobody types, and can be turned off', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'say one')
  await page.locator('.turn-foot').waitFor()
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")')
  await eventually(focused).toBe('Message')
  await send(page, 'say 123?nt')
  await page.locator('.answer .markdown', { hasText: '123?nt' }).waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.locator('.timeline').focus()
  await page.keyboard.press('?')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Show all shortcuts').waitFor()
  await shot(page, 'shortcuts')
  await expectAccessibleInBoth(page, 'shortcuts')
  // The focus is back as soon as the dialog is gone, so that no key of a quick person is lost.
  // The page looks from before the key is sent: the key may be faster than a question of the test.
  await page.evaluate(`window.focusedThen = new Promise((resolve) => {
    const look = () => document.querySelector('dialog') || resolve(document.activeElement.className)
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
  }), undefined`)
  await page.keyboard.press('Escape')
  expect(await page.evaluate('window.focusedThen')).toBe('timeline')
  await page.keyboard.press('2')
  await page.getByRole('region', { name: 'Changes', exact: true }).waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('m')
  await eventually(focused).toBe('Message')
  await page.locator('.timeline').focus()
  await page.keyboard.press('?')
  await dialog.getByLabel(/^Keys without Ctrl/).uncheck()
  await page.keyboard.press('Escape')
  await page.locator('.timeline').focus()
  await page.keyboard.press('n')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
  expectUnharmed(page)
})

browserTest(
  '[U36] the button of the theme goes through system, light and dark, and a reload keeps it',
  async () => {
    const room = await Room.open()
    const page = await room.page({ colorScheme: 'light' })
    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await paper()
    await page.getByRole('button', { name: 'Theme: system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await paper()).not.toBe(light)
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await paper()).not.toBe(light)
    await page.getByRole('button', { name: 'Theme: dark' }).click()
    expect(await paper()).toBe(light)
    expectUnharmed(page)
  },
)
