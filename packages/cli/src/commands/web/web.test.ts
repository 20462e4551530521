import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { atrium } from '../../../test/command.ts'
import { CliFixture } from '../../../test/fixture.ts'
import { HostProcess } from '../../../test/host-process.ts'
import { pairAllDevices } from '../../../test/pair-devices.ts'
import { reachableUrl } from '../../serve/reachable-url.ts'

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

test('[G12] a host that may have no more devices says so to `web`, `pair` and `serve`', async () => {
  const fixture = await new CliFixture().open()
  onTestFinished(() => fixture.close())
  const code = await pairAllDevices(fixture.host)
  const full = 'this host has 64 devices, and may have no more: revoke one first.'
  for (const args of [['web'], ['devices', 'add', 'another'], ['pair', fixture.host.url, code]])
    expect(await fixture.run(args)).toEqual({ status: 5, stdout: '', stderr: `atrium: ${full}\n` })
  await fixture.host.stop()
  const window = fixture.window(['serve', '--port', '0'], { cols: 200 })
  expect(await window.until(full)).not.toContain('#code=')
})

test('[G10] a host with --no-web serves no page, and `atrium web` says so', async () => {
  const { home, page } = await host('--no-web')
  expect((await fetch(page)).status).toBe(404)
  const { status, stderr } = await atrium(home, ['web'])
  expect(status).toBe(1)
  expect(stderr).toContain('serves no web page; see its settings: --no-web')
})

test('[Z60] `atrium web --phone` of a host on this machine alone says how a phone can reach it', async () => {
  const { home } = await host()
  const { status, stdout, stderr } = await atrium(home, ['web', '--phone'])
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toContain(
    'A phone cannot reach 127.0.0.1, which is this machine alone. docs/remote.md shows',
  )
  const plain = await atrium(home, ['web', '--phone', '--host', 'ws://atrium.example'])
  expect(plain.stderr).toContain('The page of a phone needs TLS.')
  const unnamed = await atrium(home, ['web', '--phone', '--host', 'wss://0.0.0.0:7433'])
  expect(unnamed.stderr).toContain('start it with --allow-host NAME')
})

test('[Z60] `atrium web --phone` shows the link as a QR code and as text', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-web-'))
  // A host without a token needs no code, so the link is known without a host that answers.
  const { status, stdout, stderr } = await atrium(home, ['web', '--phone', '--host', 'wss://atrium.example'])
  expect(status).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.at(-1)).toBe('https://atrium.example/')
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/^[█▀▄ ]{29}$/)
  expect(stderr).toContain('This link has no code')
  const json = await atrium(home, ['web', '--phone', '--json', '--host', 'wss://atrium.example'])
  expect(JSON.parse(json.stdout)).toEqual({ url: 'https://atrium.example/' })
})

test.each([
  ['wss://0.0.0.0:7433/', ['atrium.example'], 'wss://atrium.example:7433/'],
  ['wss://[::]:7433/', ['atrium.example:443', 'other'], 'wss://atrium.example:443/'],
  ['wss://0.0.0.0:7433/', [], 'wss://0.0.0.0:7433/'],
  ['ws://127.0.0.1:7433/', ['atrium.example'], 'ws://127.0.0.1:7433/'],
])('[Z60] a host at %s with the names %j is reached at %s', (url, names, reached) => {
  expect(reachableUrl(url, names)).toBe(reached)
})
