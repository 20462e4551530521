import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, shot } from '../../test/browser.ts'

browserTest(
  '[U24] a terminal in the folder of the session: one types, the other watches and takes over',
  async () => {
    const room = await Room.open()
    const ann = await room.page()
    await begin(ann, 'say hello')
    await ann.locator('.turn-foot').waitFor()
    await ann.getByRole('button', { name: 'Terminals' }).click()
    await ann.getByText('No terminals').waitFor()
    await ann.getByRole('button', { name: 'New terminal' }).click()
    await ann.locator('.xterm').waitFor()
    const shown = (page: typeof ann) => page.locator('.xterm-rows').innerText()
    // A page passes keys on only after it has drawn that the terminal is its own.
    const mayType = (page: typeof ann) => page.getByRole('button', { name: 'Let others type' }).waitFor()
    await mayType(ann)
    await ann.locator('.xterm').click()
    await ann.keyboard.type('echo $((6*7)) in $(pwd)\n')
    await eventually(async () => (await shown(ann)).replaceAll(/\s/g, '')).toContain(
      `42in${realpathSync(room.folder)}`,
    )
    const ben = await room.page()
    await ben.getByText('say hello').first().click()
    await ben.getByRole('button', { name: 'Terminals' }).click()
    await eventually(() => shown(ben)).toContain('42 in')
    await ben.getByText('somebody else types').waitFor()
    await ben.getByRole('button', { name: 'Type here' }).click()
    await ben.getByText('this terminal is held by another client').waitFor()
    await ann.getByRole('button', { name: 'Let others type' }).click()
    await ben.getByText('nobody types').waitFor()
    await ben.getByRole('button', { name: 'Type here' }).click()
    await ann.getByText('somebody else types').waitFor()
    await mayType(ben)
    await ben.locator('.xterm').click()
    await ben.keyboard.type('echo from-$((1+1))\n')
    for (const page of [ann, ben]) await eventually(() => shown(page)).toContain('from-2')
    await shot(ben, 'terminal')
    await ben.keyboard.type('exit 3\n')
    await ann.getByText(/has ended with 3/).waitFor()
    await ben.getByRole('button', { name: 'Close the terminal' }).click()
    await ben.getByText('No terminals').waitFor()
    expectUnharmed(ann, ben)
  },
)

const server = `import { createServer } from 'node:http'
const page = createServer((_, response) => response.end('the page of the server'))
page.listen(0, '127.0.0.1', () => console.log('ready at http://localhost:' + page.address().port + '/?a=b'))
`

browserTest(
  '[U63] [U63.1] [U63.2] a server that a command has started is a link, until the command ends',
  async () => {
    const room = await Room.open()
    writeFileSync(join(room.folder, 'server.mjs'), server)
    const page = await room.page()
    await begin(page, 'leave node server.mjs')
    await page.getByRole('button', { name: 'Allow once' }).click()
    const servers = page.getByRole('list', { name: 'Servers' })
    const link = servers.getByRole('link')
    await link.waitFor()
    expect(await servers.innerText()).toMatch(/node server\.mjs\s+running\s+http:\/\/localhost:\d+\/\?a=b/)
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
    expect(await page.locator('iframe, embed, object').count()).toBe(0)
    await page.locator('.turn-foot').waitFor()
    await shot(page, 'server')
    await expectAccessibleInBoth(page, 'server')
    const address = (await link.getAttribute('href')) ?? ''
    expect(await (await fetch(address)).text()).toBe('the page of the server')
    const work = page.getByRole('list', { name: 'Work in the background' })
    expect(await work.innerText()).toMatch(/node server\.mjs\s+in the background/)
    await work.getByRole('button', { name: 'End' }).click()
    await servers.waitFor({ state: 'detached' })
    await work.waitFor({ state: 'detached' })
    await expect(fetch(address)).rejects.toThrow()
    expectUnharmed(page)
  },
)
