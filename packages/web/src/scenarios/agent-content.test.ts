import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { expectAccessibleInBoth } from '../../test/axe.ts'
import { Room, begin, browserTest, eventually, expectUnharmed, send, shot } from '../../test/browser.ts'

const program = fileURLToPath(new URL('../../../adapters/test/acp-agent.mjs', import.meta.url))
/** A host with an ACP agent whose answers are scripts of the messages (`acp-agent-verbs.mjs`). */
function scriptedRoom(): Promise<Room> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-acp-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const agent = { command: process.execPath, args: [program], env: { ACP_STORE: folder } }
  return Room.open([], { scripted: { ...agent, displayName: 'Scripted' } })
}

/** A picture of one red pixel. */
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** A line of a script that sends content as a part of the answer. */
function content(block: object): string {
  const update = { sessionUpdate: 'agent_message_chunk', content: block }
  const params = { sessionId: '$SESSION', update }
  return `raw ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })}`
}

browserTest(
  '[U51] [U51.1] [U51.2] [U56] [U54.1] [U54.2] [U18.4] a picture of an agent is shown; files and other content are cards that open or are downloaded; calls in a row are one line',
  async () => {
    const room = await scriptedRoom()
    writeFileSync(join(room.folder, 'app.py'), 'print("hello")\n')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="owned()"><script>owned()</script></svg>'
    const page = await room.page()
    await begin(
      page,
      [
        'say Here it is:',
        `image ${pixel}`,
        content({ type: 'image', data: btoa(svg), mimeType: 'image/svg+xml' }),
        content({ type: 'resource_link', name: 'app.py', uri: `file://${room.folder}/app.py` }),
        content({ type: 'resource_link', name: 'gone', uri: `file://${room.folder}/gone.txt` }),
        content({ type: 'resource_link', name: 'site', uri: 'https://example.org/a?b' }),
        content({ type: 'resource_link', name: 'trick', uri: 'javascript:owned()' }),
        content({
          type: 'resource',
          resource: { uri: 'mem:/data', blob: btoa('data'), mimeType: 'application/zip' },
        }),
      ].join('\n'),
      'scripted',
    )
    const picture = page.locator('.answer').getByAltText('Picture of the agent')
    await picture.waitFor()
    await eventually(() => page.evaluate('document.querySelector(".answer img").naturalWidth')).toBe(1)
    expect(await page.locator('.answer img').count()).toBe(1)
    await eventually(() => page.locator('.content-card').count()).toBe(6)
    expect(await page.locator('.answer').getByText('ahp-content:').count()).toBe(0)

    const app = page.getByRole('group', { name: 'app.py' })
    await app.getByRole('button', { name: 'Open' }).click()
    await app.getByText('print("hello")').waitFor()
    await picture.click()
    const large = page.getByRole('dialog', { name: 'Picture of the agent' })
    await large.locator('img').waitFor()
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    await shot(page, 'agent-content')
    await expectAccessibleInBoth(page, 'agent content')
    const arriving = page.waitForEvent('download')
    await app.getByRole('button', { name: 'Download' }).click()
    const download = await arriving
    expect(download.suggestedFilename()).toBe('app.py')
    expect(readFileSync(await download.path(), 'utf8')).toBe('print("hello")\n')

    const gone = page.getByRole('group', { name: 'gone.txt' })
    await gone.getByRole('button', { name: 'Open' }).click()
    await gone.getByRole('alert').waitFor()

    const image = page.getByRole('group', { name: 'Picture' })
    await image.getByText('image/svg+xml').waitFor()
    expect(await image.getByRole('button').allInnerTexts()).toEqual(['Download'])
    const zip = page.getByRole('group', { name: 'data' })
    await zip.getByText('application/zip').waitFor()
    await zip.getByText('4 bytes').waitFor()
    const site = page.getByRole('link', { name: 'https://example.org/a?b' })
    expect(await site.getAttribute('rel')).toContain('noopener')
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)

    const result = { type: 'content', content: { type: 'text', text: '\u001b[32mfine\u001b[0m' } }
    const call = (id: string, kind: string, rawInput: object, more: object = {}) =>
      `call ${id} ${kind} Look = ${JSON.stringify({ status: 'completed', rawInput, ...more })}`
    await send(
      page,
      [
        call('r1', 'read', { path: 'a.ts' }),
        call('r2', 'read', { path: 'b.ts', limit: 5 }, { content: [result] }),
        call('x1', 'execute', { command: 'make' }, { status: 'failed' }),
        'say after the calls',
        call('r3', 'read', { path: 'c.ts' }),
      ].join('\n'),
    )
    await page.locator('.turn-foot').nth(1).waitFor()
    const run = page.locator('.tool-run')
    expect(await page.locator('.tool').count()).toBe(1)
    await run.locator('summary', { hasText: '1 failed' }).click()
    await eventually(() => run.locator('.tool').count()).toBe(3)
    await run.getByText('path: b.ts, limit: 5').click()
    await run.locator('.output .ansi-2', { hasText: /^fine$/ }).waitFor()
    expect(await run.locator('.tool-input').filter({ visible: true }).count()).toBe(0)
    await shot(page, 'calls-in-a-row')
    await expectAccessibleInBoth(page, 'calls in a row')
    expectUnharmed(page)
  },
)

browserTest(
  '[U52] [U52.1] a plan is a list with its progress, in view while the agent works, and never done while steps are open',
  async () => {
    const room = await scriptedRoom()
    const page = await room.page()
    await begin(
      page,
      [
        'plan completed Read **it**;in_progress Fix the bug;pending Test it',
        `say ${'a long answer '.repeat(800)}`,
        'ask c1 {"title":"Fix it"}',
        'plan completed Read **it**;completed Fix the bug;pending Test it',
      ].join('\n'),
      'scripted',
    )
    const plan = page.getByRole('region', { name: 'Plan' })
    const steps = () => plan.getByRole('listitem').allTextContents()
    await plan.getByText('1 of 3').waitFor()
    expect(await steps()).toEqual(['done: Read it', 'now: Fix the bug', 'open: Test it'])
    await page.getByRole('group', { name: 'Answers' }).waitFor()
    await eventually(() => page.evaluate('document.querySelector(".timeline").scrollTop')).toBeGreaterThan(
      500,
    )
    const seen = `(() => {
    const [plan, box] = ['.plan', '.timeline'].map((each) => document.querySelector(each).getBoundingClientRect())
    return plan.top >= box.top && plan.bottom < box.bottom
  })()`
    await eventually(() => page.evaluate(seen)).toBe(true)
    await shot(page, 'plan-live')
    await expectAccessibleInBoth(page, 'a plan')
    await page.getByRole('group', { name: 'Answers' }).getByRole('button').first().click()
    await page.locator('.turn-foot').waitFor()
    await plan.getByText('2 of 3').waitFor()
    expect(await steps()).toEqual(['done: Read it', 'done: Fix the bug', 'open: Test it'])
    expect(await plan.locator('.good').filter({ hasText: 'done' }).count()).toBe(0)
    await send(page, 'plan completed a;completed b')
    await page.locator('.turn-foot').nth(1).waitFor()
    await plan.nth(1).getByText('2 of 2').waitFor()
    await shot(page, 'plan')
    expectUnharmed(page)
  },
)
