import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { atrium, documents } from '../../../test/command.ts'
import { HostProcess } from '../../../test/host-process.ts'

/** A webhook on this machine, and what it has received. */
async function webhook() {
  const received: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (data: Buffer) => void (text += data.toString()))
    request.on('end', () => {
      received.push(text)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // A server that listens on an address has an address: hence the cast.
  return { received, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('[T20.4] [Z61] [T20] a target is added, tested, listed and removed; only the config file can allow this machine', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-notified-'))
  const { received, origin } = await webhook()
  mkdirSync(join(home, '.config', 'atrium'), { recursive: true })
  const config = { notifications: { allow: [origin] } }
  writeFileSync(join(home, '.config', 'atrium', 'config.json'), JSON.stringify(config))
  const host = await HostProcess.start(home)
  onTestFinished(() => host.kill())
  const key = join(home, 'data', 'push-key')
  expect(readFileSync(key, 'utf8')).toContain('PRIVATE KEY')
  expect(statSync(key).mode & 0o777).toBe(0o600)

  const command = (...words: readonly string[]) => atrium(home, ['notifications', ...words])
  expect((await command()).stderr).toContain('Nothing was sent yet.')
  expect((await command('targets')).stderr).toContain('Nobody is notified.')
  const refused = await command('add', 'http://127.0.0.1:1/')
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('must begin with https://') })
  expect(await command('add', `${origin}/secret-topic`)).toMatchObject({ status: 0 })
  const [target] = documents((await command('targets', '--json')).stdout)
  expect(target).toMatchObject({ kind: 'webhook', origin })
  expect(JSON.stringify(target)).not.toContain('secret-topic')
  const tested = await command('test')
  expect(tested).toMatchObject({ status: 0, stdout: expect.stringMatching(/ test +sent +webhook http/) })
  expect(received.map((text) => JSON.parse(text) as unknown)).toEqual([
    { session: '', link: `${host.url.replace(/^ws/, 'http')}#/` },
  ])
  expect((await command()).stdout).toMatch(/ test +sent /)
  expect(await command('remove', String(target?.['id']))).toMatchObject({ status: 0 })
  expect((await command('targets')).stdout).toBe('')
  expect(await command('remove', 'x')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('no target "x"'),
  })
  expect(await command('sing')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('use ls, targets, add'),
  })
  expect(await command('add')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('needs an address'),
  })
})

test('[Z61] [T22] a session that ends is reported to a webhook, and a run that a person watches as well', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-notified-'))
  const { received, origin } = await webhook()
  mkdirSync(join(home, '.config', 'atrium'), { recursive: true })
  const config = { notifications: { allow: [origin] } }
  writeFileSync(join(home, '.config', 'atrium', 'config.json'), JSON.stringify(config))
  const host = await HostProcess.start(home)
  onTestFinished(() => host.kill())
  await atrium(home, ['notifications', 'add', `${origin}/x`])
  await atrium(home, ['run', '--cwd', home, 'say done'])
  await expect.poll(() => received.length, { timeout: 200_000 }).toBe(1)
  expect(JSON.parse(received[0] ?? '')).toEqual({
    session: expect.stringMatching(/^ahp-session:\//),
    link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/#\/session\//),
  })
})
