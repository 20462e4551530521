import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

browserTest(
  '[U61] [U61.1] settings: a permission and a device are revoked, a link lets a device in, and rows say their commands',
  async () => {
    const room = await Room.open()
    const page = await room.page()
    await begin(page, 'run echo one')
    await page.getByRole('button', { name: 'Always allow in this folder' }).click()
    await page.locator('.turn-foot').waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    const section = (name: string) => page.getByRole('region', { name, exact: true })
    await section('Agents').getByRole('group', { name: 'Atrium Guide' }).getByText('ready').waitFor()
    await section('Devices').getByText('this browser').waitFor()
    await section('Host').getByText('atrium config defaultProvider VALUE').waitFor()
    await shot(page, 'settings-page')
    await expectAccessibleInBoth(page, 'settings page')

    const permission = section('Permissions').getByText('Runs without asking in')
    await permission.waitFor()
    await section('Permissions').getByRole('button', { name: 'Revoke' }).click()
    await section('Permissions').getByText('Nothing runs without a question').waitFor()

    await section('Devices').getByLabel('Name of the device').fill('phone')
    await section('Devices').getByLabel('Role of the device').selectOption('watch')
    await section('Devices').getByText('atrium devices add phone --role watch').waitFor()
    await section('Devices').getByRole('button', { name: 'Make a link' }).click()
    const link = await section('Devices').locator('.pairing').innerText()
    await shot(page, 'settings-device')
    const phone = await room.stranger({ viewport: { width: 390, height: 800 } })
    await phone.goto(link)
    await phone.getByText('This device may not begin sessions').waitFor()
    await section('Devices').getByRole('button', { name: 'Done' }).click()
    const added = section('Devices').getByRole('group', { name: 'phone' })
    await added.getByText('atrium devices revoke phone').waitFor()
    await added.getByRole('button', { name: 'Revoke' }).click()
    await phone.getByRole('heading', { name: 'This browser has no access to this host' }).waitFor()
    await eventually(() => added.count()).toBe(0)

    const text = () => page.evaluate<string>('getComputedStyle(document.body).fontSize')
    const usual = await text()
    await section('This browser').getByRole('combobox', { name: 'Density' }).selectOption('compact')
    await eventually(text).not.toBe(usual)
    await page.reload()
    await section('This browser').getByRole('combobox', { name: 'Density' }).waitFor()
    expect(await text()).not.toBe(usual)
    await page.setViewportSize({ width: 360, height: 700 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await shot(page, 'settings-phone')
    // Without the permission, the tool asks again.
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.locator('.session-title', { hasText: 'run echo one' }).click()
    await send(page, 'run echo two')
    await page.getByRole('button', { name: 'Allow once' }).waitFor()
    expectUnharmed(page, phone)
  },
)
