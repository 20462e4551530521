import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { listen } from '../../../adapters/src/server/server.ts'
import { MemoryDevices } from '../../../adapters/test/server/known-devices.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, shot } from '../../test/browser.ts'

/** Waits until the service worker has kept the files. */
const kept = (page: Page) => page.evaluate('navigator.serviceWorker.ready.then(() => true)')

/** The paths and the texts of all files that the browser keeps. */
const caches = (page: Page): Promise<readonly (readonly [string, string])[]> =>
  page.evaluate(`(async () => {
    const files = []
    for (const name of await caches.keys())
      for (const request of await (await caches.open(name)).keys())
        files.push([request.url, await (await caches.match(request)).text()])
    return files
  })()`)

browserTest('[U45] the page opens without a host, says so, and goes on when the host is back', async () => {
  const room = await Room.open()
  const page = await room.page()
  await begin(page, 'say a private word')
  await page.locator('.turn-foot').waitFor()
  await kept(page)
  await room.host.kill()
  await page.reload()
  const sidebar = page.getByRole('complementary')
  await sidebar.getByText(/Offline/).waitFor()
  await shot(page, 'without-host')
  await room.start()
  await sidebar.getByText('Live', { exact: true }).waitFor()
  await page.locator('.answer .markdown', { hasText: 'private word' }).waitFor()
  expectUnharmed(page)
})

browserTest(
  '[U40] [U40.1] a new session can be written before the page is live, and starts in the right folder',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await kept(page)
    await room.host.kill()
    await page.reload()
    await page
      .getByRole('complementary')
      .getByText(/Offline/)
      .waitFor()
    const task = page.getByRole('form', { name: 'New session' })
    await task.getByLabel('What shall be done?').fill('say early')
    await task.getByText('Waiting for the host to name its agents and its folder.').waitFor()
    expect(await task.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
    // Neither do the keys start it, nor is there a folder that nobody has chosen.
    await page.keyboard.press('Enter')
    expect(await task.getByLabel('Folder', { exact: true }).count()).toBe(0)
    await room.start()
    await eventually(() => task.getByLabel('Folder', { exact: true }).inputValue()).toBe(room.folder)
    await task.getByRole('button', { name: 'Start' }).click()
    await page.locator('.answer .markdown', { hasText: 'early' }).waitFor()
    expect(await page.locator('.chat-folder').first().getAttribute('title')).toBe(room.folder)
    expectUnharmed(page)
  },
)

browserTest('[U45] [U45.1] the browser keeps files of the build only: no code, ticket or text', async () => {
  const room = await Room.open()
  const page = await room.page()
  await kept(page)
  await begin(page, 'say a private word')
  await page.locator('.turn-foot').waitFor()
  await page.reload()
  await page.getByRole('complementary').getByText('Live', { exact: true }).waitFor()
  const files = await caches(page)
  const paths = files.map(([url]) => url.replace(room.address, '/'))
  expect(paths).toContain('/')
  for (const path of paths)
    expect(path).toMatch(/^\/(?:assets\/[\w-]+\.(?:js|css)|[\w-]+\.(?:svg|png|webmanifest)|)$/)
  expect(JSON.stringify(files)).not.toContain('private word')
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0)
  expectUnharmed(page)
})

browserTest('[U45] [U45.2] a new build of the host replaces the kept one at the next opening', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-builds-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(fileURLToPath(new URL('../../dist/page/', import.meta.url)), folder, { recursive: true })
  const host = await listen({
    token: 'a'.repeat(16),
    page: { folder },
    devices: new MemoryDevices(),
    connect() {},
  })
  const room = new Room()
  onTestFinished(() => rmSync(room.home, { recursive: true }))
  const page = await room.stranger({}, host.pageUrl)
  await page.goto(host.pageUrl ?? '')
  await kept(page)
  const before = await caches(page)
  rebuild(folder)
  await page.reload()
  await eventually(() => page.title()).toBe('Atrium, built again')
  await eventually(async () => (await caches(page)).length).toBe(2 * before.length)
  await host.close()
  await page.reload()
  await eventually(() => page.title()).toBe('Atrium, built again')
})

/** Changes the HTML of a built page, and the service worker that names it. */
function rebuild(folder: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex')
  const path = join(folder, 'index.html')
  const html = readFileSync(path, 'utf8')
  const changed = html.replace('<title>Atrium</title>', '<title>Atrium, built again</title>')
  const worker = join(folder, 'service-worker.js')
  const script = readFileSync(worker, 'utf8').replace(digest(html), digest(changed))
  for (const [file, text] of [
    [path, changed],
    [worker, script],
  ] as const) {
    writeFileSync(file, text)
    writeFileSync(`${file}.gz`, gzipSync(text))
  }
}
