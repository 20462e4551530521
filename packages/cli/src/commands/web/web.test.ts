import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { atrium } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'

async function host(...flags: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), 'atrium-web-'))
  const started = await HostProcess.start(home, undefined, undefined, flags)
  onTestFinished(() => started.stop())
  return { home, page: started.url.replace(/^ws/, 'http') }
}

test('[G12] `atrium web` prints a link with a new code each time, and nothing else', async () => {
  const { home, page } = await host()
  const links = [await atrium(home, ['web']), await atrium(home, ['web', '--json'])]
  const [first = '', second = ''] = links.map(({ stdout }) => stdout.trim())
  expect(first).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=[0-9A-Z]{5}-[0-9A-Z]{5}$/)
  expect(first.startsWith(page)).toBe(true)
  const { url } = JSON.parse(second) as { readonly url: string }
  expect(url).not.toBe(first)
  expect(links.map(({ status, stderr }) => ({ status, stderr }))).toEqual([
    { status: 0, stderr: '' },
    { status: 0, stderr: '' },
  ])
  expect(await (await fetch(page)).text()).toContain('<title>Atrium</title>')
})

test('[G10] a host with --no-web serves no page, and `atrium web` says so', async () => {
  const { home, page } = await host('--no-web')
  expect((await fetch(page)).status).toBe(404)
  const { status, stderr } = await atrium(home, ['web'])
  expect(status).toBe(1)
  expect(stderr).toContain('serves no web page; start it without --no-web')
})
