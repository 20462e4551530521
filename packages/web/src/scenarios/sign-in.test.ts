import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { httpServer } from '../../../adapters/test/mcp/http.ts'
import { guardedServer } from '../../../adapters/test/oauth/guarded-server.ts'
import { authorizationServer } from '../../../adapters/test/oauth/provider.ts'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

const program = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))

/** Starts the scripted ACP agent, which keeps its files in an empty folder. */
function agent(quirks: string, folder = mkdtempSync(join(tmpdir(), 'atrium-sign-in-'))) {
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { ACP_STORE: folder, ACP_QUIRKS: quirks }
  return { keyed: { command: process.execPath, args: [program], env, displayName: 'Keyed' } }
}

browserTest(
  '[U55] an agent that wants a sign-in: the new session asks for it, and is created after it',
  async () => {
    const room = await Room.open([], agent('auth-key'))
    const page = await room.page()
    const start = page.getByRole('main')
    await start.getByLabel('Agent', { exact: true }).selectOption('keyed')
    const field = start.getByLabel('What shall be done?')
    await field.fill('say hello')
    await eventually(() => start.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true)
    await field.press('Enter')
    await start.getByText('Sign in to Keyed: With a key').waitFor()
    await shot(page, 'sign-in-new-session')
    await expectAccessibleInBoth(page, 'sign-in-new-session')
    await start.getByLabel('Token').fill('k-wrong-key')
    await start.getByRole('button', { name: 'Sign in' }).click()
    await start.getByText('The sign-in was refused').waitFor()
    await start.getByLabel('Token').fill('k-good')
    await start.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('.turn-foot').waitFor()
    await page.locator('.answer', { hasText: 'hello' }).waitFor()
    await shot(page, 'sign-in-new-session-after')
    expect(await page.content()).not.toContain('k-good')
    expectUnharmed(page)
  },
)

browserTest('[U55] an agent that wants a sign-in in a turn: the turn goes on after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-sign-in-'))
  const room = await Room.open([], agent('auth-prompt', folder))
  const page = await room.page()
  await begin(page, 'say hello', 'keyed')
  await page.getByText('Sign in to Keyed').waitFor()
  await shot(page, 'sign-in-turn')
  await expectAccessibleInBoth(page, 'sign-in-turn')
  writeFileSync(join(folder, 'signed-in'), '')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('.answer', { hasText: 'hello' }).waitFor()
  expectUnharmed(page)
})

browserTest('[U55] an MCP server that wants a sign-in has a card, until it is ready', async () => {
  const remote = await httpServer({
    refuse: ({ authorization }) =>
      authorization === 'Bearer good' ? undefined : { status: 401, challenge: 'Bearer' },
  })
  const room = await Room.open([], undefined, { mcpServers: { docs: { url: remote.url } } })
  const page = await room.page()
  await begin(page, 'hello')
  await page.locator('.turn-foot').waitFor()
  await page.getByText('The MCP server docs needs a sign-in.').waitFor()
  await shot(page, 'sign-in-mcp')
  await expectAccessibleInBoth(page, 'sign-in-mcp')
  await page.getByLabel('Token').fill('bad')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The sign-in was refused').waitFor()
  await page.getByLabel('Token').fill('good')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await eventually(() => page.getByLabel('Token').count()).toBe(0)
  await send(page, 'say on')
  await shot(page, 'sign-in-mcp-after')
  expectUnharmed(page)
})

browserTest(
  '[U55] an MCP server with an authorization server: a window opens, and the server is ready after it',
  async () => {
    const provider = await authorizationServer()
    const remote = await guardedServer(provider)
    const room = await Room.open([], undefined, { mcpServers: { docs: { url: remote.url } } })
    const page = await room.page()
    await begin(page, 'hello')
    await page.getByText('The MCP server docs needs a sign-in.').waitFor()
    await shot(page, 'sign-in-browser')
    await expectAccessibleInBoth(page, 'sign-in-browser')
    const opened = page.waitForEvent('popup')
    await page.getByRole('button', { name: 'Sign in' }).click()
    const popup = await opened
    await popup.getByText('You are signed in.').waitFor()
    await eventually(() => page.getByText('The MCP server docs needs a sign-in.').count()).toBe(0)
    await shot(page, 'sign-in-browser-after')
    expectUnharmed(page)
  },
)
