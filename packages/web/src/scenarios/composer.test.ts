import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import {
  Room,
  begin,
  browserTest,
  eventually,
  expectUnharmed,
  giveFile,
  messageField,
  shot,
  taskField,
  writeUntilSuggested,
} from '../../test/browser.ts'

/** A picture of one red pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

browserTest('[U34] an incomplete answer is asked for again, until the rest has come', async () => {
  const room = await Room.open()
  writeFileSync(join(room.folder, 'late.ts'), 'text\n')
  const page = await room.stranger()
  let answers = 0
  // The host is made slow: its first two answers have nothing, and say that they are incomplete.
  await page.routeWebSocket(/./, (near) => {
    near.connectToServer().onMessage((text) => {
      const message = JSON.parse(String(text)) as { readonly result?: { readonly items?: unknown } }
      const isEarly = message.result?.items !== undefined && ++answers <= 2
      const result = { items: [], _meta: { 'x-atrium': { incomplete: true } } }
      near.send(isEarly ? JSON.stringify({ ...message, result }) : text)
    })
  })
  await page.goto(await room.link())
  await page.getByText('Live', { exact: true }).waitFor()
  await begin(page, 'say begun')
  await page.locator('.turn-foot').waitFor()
  answers = 0
  await writeUntilSuggested(page, '@late', page.getByRole('option', { name: '@late.ts' }))
  expect(answers).toBeGreaterThan(2)
  expectUnharmed(page)
})

browserTest(
  '[U34] [U34.1] while the host has not answered to the last letters, the list has what still fits, for the whole word',
  async () => {
    const room = await Room.open()
    for (const name of ['alpha.ts', 'beta.ts']) writeFileSync(join(room.folder, name), 'text\n')
    const page = await room.stranger()
    let silent = false
    const held: (() => void)[] = []
    await page.routeWebSocket(/./, (near) => {
      near.connectToServer().onMessage((text) => {
        const message = JSON.parse(String(text)) as { readonly result?: { readonly items?: unknown } }
        if (silent && message.result?.items !== undefined) held.push(() => near.send(text))
        else near.send(text)
      })
    })
    await page.goto(await room.link())
    await page.getByText('Live', { exact: true }).waitFor()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
    await writeUntilSuggested(page, 'see @', options.first())
    await eventually(() => options.allInnerTexts()).toEqual(['@beta.ts', '@alpha.ts'])
    silent = true
    await page.keyboard.type('a')
    for (const key of ['ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
    silent = false
    for (const answer of held.splice(0)) answer()
    await eventually(() => options.allInnerTexts()).toEqual(['@alpha.ts', '@beta.ts'])
    // What a person has chosen since the last letter stays chosen.
    expect(await options.nth(1).getAttribute('aria-selected')).toBe('true')
    silent = true
    await page.keyboard.type('lp')
    await eventually(() => options.allInnerTexts()).toEqual(['@alpha.ts'])
    await page.keyboard.press('Enter')
    await eventually(() => messageField(page).inputValue()).toBe('see @alpha.ts ')
    expectUnharmed(page)
  },
)

browserTest(
  '[U34] files and commands are completed with keys and with the mouse, and a file goes with the message',
  async () => {
    const room = await Room.open()
    mkdirSync(join(room.folder, 'src'))
    for (const name of ['src/alpha.ts', 'src/alphabet.ts', 'beta.ts'])
      writeFileSync(join(room.folder, name), 'text\n')
    const page = await room.page()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    const field = page.getByLabel('Message', { exact: true })
    const list = page.getByRole('listbox', { name: 'Suggestions' })
    await writeUntilSuggested(page, 'say see @alph', list.getByRole('option', { name: '@src/alphabet.ts' }))
    await eventually(() => list.getByRole('option').count()).toBe(2)
    await shot(page, 'completions')
    await expectAccessibleInBoth(page, 'completions')
    const active = await field.getAttribute('aria-activedescendant')
    await page.keyboard.press('ArrowDown')
    await eventually(() => field.getAttribute('aria-activedescendant')).not.toBe(active)
    const chosen = await list.locator('[aria-selected="true"]').innerText()
    await page.keyboard.press('Enter')
    await list.waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe(`say see ${chosen} `)
    await page.locator('.composer .attached').waitFor()
    await page.keyboard.type('now')
    await page.keyboard.press('Enter')
    await page.locator('.message .attached').waitFor()
    await page.locator('.answer .markdown', { hasText: `see ${chosen} now` }).waitFor()

    const say = list.getByRole('option', { name: /^\/say/ })
    await writeUntilSuggested(page, '/sa', say)
    await say.click()
    await eventually(() => field.inputValue()).toBe('/say ')
    expect(await page.locator('.composer .attached').count()).toBe(0)
    await page.keyboard.type('by the mouse')
    await page.keyboard.press('Enter')
    await page.locator('.answer .markdown', { hasText: 'by the mouse' }).waitFor()

    await writeUntilSuggested(page, '@beta', list)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('@beta')
    expectUnharmed(page)
  },
)

browserTest(
  '[U35] a picture is pasted, a file dropped, both go with the message, and a file too large is named',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    const give = (kind: 'paste' | 'drop', name: string, type: string, base64: string) =>
      giveFile(page, kind, '.composer textarea', { name, type, base64 })
    await give('paste', 'red.png', 'image/png', pixel)
    await page.locator('.composer').getByAltText('red.png').waitFor()
    await give('drop', 'notes.txt', 'text/plain', 'bm90ZXM=')
    await page.locator('.composer .attached', { hasText: 'notes.txt' }).waitFor()
    await shot(page, 'attachments')
    await expectAccessibleInBoth(page, 'attachments')
    await page.getByRole('button', { name: 'Remove notes.txt' }).click()
    await page.locator('.composer .attached').waitFor({ state: 'detached' })
    await give('drop', 'large.bin', 'application/octet-stream', btoa('x'.repeat(2_600_000)))
    await page.getByText('large.bin is too large to attach: a file may have at most 2.5 MB.').waitFor()
    await page.getByLabel('Message', { exact: true }).fill('say with a picture')
    await page.keyboard.press('Enter')
    const picture = page.locator('.message').getByAltText('red.png')
    await picture.waitFor()
    await eventually(() => picture.evaluate('document.querySelector(".message img").naturalWidth')).toBe(1)
    await page.locator('.answer .markdown', { hasText: 'with a picture' }).waitFor()
    expectUnharmed(page)
  },
)

browserTest('[U35] what is typed while a dropped file is still read stays in the field', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'say begun')
  await page.locator('.turn-foot').waitFor()
  // A slow disk: the file is read only when the test says so.
  await page.evaluate(`{
    const read = Blob.prototype.arrayBuffer
    const asked = new Promise((resolve) => (globalThis.goOn = resolve))
    Blob.prototype.arrayBuffer = function () { return asked.then(() => read.call(this)) }
    const data = new DataTransfer()
    data.items.add(new File(['notes'], 'notes.txt', { type: 'text/plain' }))
    document.querySelector('.composer textarea')
      .dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
  }`)
  await messageField(page).fill('say typed meanwhile')
  await page.evaluate('goOn()')
  await page.locator('.composer .attached', { hasText: 'notes.txt' }).waitFor()
  expect(await messageField(page).inputValue()).toBe('say typed meanwhile')
  expectUnharmed(page)
})

browserTest(
  '[U35] [U35.1] the whole page takes a dropped file, and shows so while it is dragged',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    const notes = { name: 'notes.txt', type: 'text/plain', base64: 'bm90ZXM=' }
    // Without an open chat nothing takes the file. It must not take the place of the page either.
    expect(await giveFile(page, 'dragover', 'body', notes)).toBe(true)
    expect(await giveFile(page, 'drop', 'body', notes)).toBe(true)
    await begin(page, 'say begun')
    await page.locator('.turn-foot').waitFor()
    const target = page.getByText('Drop the files to attach them')
    for (const [at, place] of ['.timeline', '.sidebar', '.chat-header'].entries()) {
      expect(await giveFile(page, 'dragover', place, notes)).toBe(true)
      await target.waitFor()
      if (at === 0) {
        await shot(page, 'drop-target')
        await expectAccessibleInBoth(page, 'drop target')
      }
      expect(await giveFile(page, 'drop', place, notes)).toBe(true)
      await eventually(() => page.locator('.composer .attached').count()).toBe(at + 1)
      await target.waitFor({ state: 'detached' })
    }
    await giveFile(page, 'dragover', '.timeline', notes)
    await target.waitFor()
    // A drag that leaves the window, or ends with Escape, has nothing over the page any more.
    await page.evaluate(`dispatchEvent(new DragEvent('dragleave', { relatedTarget: null }))`)
    await target.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    expect(await giveFile(page, 'drop', '.dialog', notes)).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.locator('.composer .attached').count()).toBe(3)
    // The first message of a new session can have files, too.
    await (await taskField(page)).fill('say with a file')
    await giveFile(page, 'drop', '.start', notes)
    await page.locator('.task .attached').waitFor()
    await page.getByLabel('What shall be done?').press('Enter')
    await page.locator('.kept:not(.left) .message .attached').waitFor()
    expectUnharmed(page)
  },
)
