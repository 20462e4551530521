import { expect } from 'vitest'
import { pairAllDevices } from '../../../cli/test/pair-devices.ts'
import { Room, browserTest, expectUnharmed, shot } from '../../test/browser.ts'

browserTest(
  '[G12] [G13] a link lets one browser in, once; the browser keeps a key that nobody can read',
  async () => {
    const room = await Room.open()
    const link = await room.link()
    const first = await room.stranger()
    await first.goto(link)
    await first.getByText('Live', { exact: true }).waitFor()
    expect(first.url()).toBe(room.address)
    await shot(first, 'welcome')
    // The code is neither in the history nor anywhere else, and there is no cookie.
    expect(await first.evaluate('history.length')).toBeLessThanOrEqual(2)
    expect(await first.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])')).toBe(
      '[{},{},""]',
    )
    expect(await first.context().cookies()).toEqual([])
    expect(await first.evaluate(keptKey)).toEqual({ type: 'private', extractable: false, exported: false })
    await first.reload()
    await first.getByText('Live', { exact: true }).waitFor()

    const second = await room.stranger()
    await second.goto(link)
    await second.getByText('It did not work: the host does not accept this link').waitFor()
    await shot(second, 'enter')
    await second.getByLabel('Or paste the link here').fill(await room.link())
    await second.getByRole('button', { name: 'Enter' }).click()
    await second.getByText('Live', { exact: true }).waitFor()
    expectUnharmed(first, second)
  },
)

/** What the browser keeps, and whether a page can export it. */
const keptKey = `new Promise((resolve) => {
  const opening = indexedDB.open('atrium', 1)
  opening.onsuccess = () => {
    const asked = opening.result.transaction('keys').objectStore('keys').get('host')
    asked.onsuccess = async () => {
      const { privateKey } = asked.result
      const exported = await crypto.subtle.exportKey('pkcs8', privateKey).then(() => true, () => false)
      resolve({ type: privateKey.type, extractable: privateKey.extractable, exported })
    }
  }
})`

browserTest(
  '[G13] [S-43] a browser whose credential is gone is told how to enter again; the address names no host',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await page.goto(`${room.address}?gatewayUrl=ws://evil.example&host=evil.example#/`)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.evaluate(`new Promise((resolve) => {
    const opening = indexedDB.open('atrium', 1)
    opening.onsuccess = () => {
      const keys = opening.result.transaction('keys', 'readwrite').objectStore('keys')
      keys.get('host').onsuccess = ({ target }) =>
        (keys.put({ ...target.result, credential: 'another' }, 'host').onsuccess = resolve)
    }
  })`)
    await page.reload()
    await page.getByText('This browser has no access to this host').waitFor()
    await page.getByText('the host does not let this browser in').waitFor()
    expectUnharmed(page)
  },
)

browserTest(
  '[G13] a browser for which the host has no room is told so, and not that its link is wrong',
  async () => {
    const room = await Room.open()
    const link = await room.link()
    await pairAllDevices(room.host)
    const page = await room.stranger()
    await page.goto(link)
    await page.getByText('It did not work: this host has 64 devices, and may have no more').waitFor()
  },
)

browserTest('[G13] a host without a token needs no link', async () => {
  const room = await Room.open(['--without-connection-token'])
  const page = await room.stranger()
  await page.goto(room.address)
  await page.getByText('Live', { exact: true }).waitFor()
  expectUnharmed(page)
})
