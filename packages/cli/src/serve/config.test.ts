import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { configPath, configure, withAbsolutePaths } from './config.ts'

let environment: Record<string, string> = {}
let path = ''
beforeEach(() => {
  const HOME = mkdtempSync(join(tmpdir(), 'atrium-config-'))
  environment = { HOME }
  path = configPath(environment)
})

function file(text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

test('[D1] the defaults are the XDG folders', async () => {
  const HOME = environment['HOME'] ?? ''
  expect(path).toBe(join(HOME, '.config', 'atrium', 'config.json'))
  const data = join(HOME, '.local', 'share', 'atrium')
  expect(await configure({}, environment)).toEqual({ settings: { data }, warnings: [] })
  const moved = await configure({}, { ...environment, XDG_DATA_HOME: '/elsewhere' })
  expect(moved.settings.data).toBe('/elsewhere/atrium')
})

test('[D2] defaults < file < environment < flags', async () => {
  file('{"port": 1, "data": "/file", "logLevel": "error"}')
  const settingsOf = async (flags: object) => (await configure(flags, environment)).settings
  expect(await settingsOf({})).toEqual({ port: 1, data: '/file', logLevel: 'error' })
  Object.assign(environment, { ATRIUM_HOME: '/environment', ATRIUM_PORT: '2', ATRIUM_LOG_LEVEL: '' })
  expect(await settingsOf({})).toEqual({ port: 2, data: '/environment', logLevel: 'error' })
  expect(await settingsOf({ port: '0' })).toEqual({ port: 0, data: '/environment', logLevel: 'error' })
})

test('[Z40] in the environment of a host in another folder, the variables of files and folders are absolute', () => {
  const names = [
    'ATRIUM_HOME',
    'ATRIUM_SOCKET',
    'ATRIUM_DEFAULT_DIRECTORY',
    'ATRIUM_TOKEN_FILE',
    'ATRIUM_TLS_CERT',
    'ATRIUM_TLS_KEY',
    'ATRIUM_POSTGRES_PASSWORD_FILE',
    'XDG_CONFIG_HOME',
  ]
  const others = { ATRIUM_TOKEN: 'a/b', ATRIUM_PORT: '0', PATH: 'bin:/bin' }
  const given = { ...others, ...Object.fromEntries(names.map((name) => [name, './here'])) }
  const here = Object.fromEntries(names.map((name) => [name, resolve('here')]))
  expect(withAbsolutePaths(given)).toEqual({ ...others, ...here })
  // An empty variable counts as absent.
  const kept = { ...others, ATRIUM_SOCKET: '', ATRIUM_TLS_KEY: '/abs/key' }
  expect(withAbsolutePaths(kept)).toEqual(kept)
})

test('[D3] an unknown key is a warning with the file and the key', async () => {
  file('{"prot": 1, "__proto__": {"port": 9}, "constructor": 1, "connectionTokn": "x"}')
  const { settings, warnings } = await configure({}, environment)
  expect(settings.port).toBeUndefined()
  expect(warnings.length).toBe(4)
  expect(warnings[0]).toBe(`${path}: 'prot' is no setting, so it is ignored.`)
})

const processes = 'an object with idleMinutes, a positive number, and maxIdle, a number of processes from 0'

test.each([
  ['port', '"7433"', 'a port from 0 to 65535'],
  ['port', '65536', 'a port from 0 to 65535'],
  ['port', '-1', 'a port from 0 to 65535'],
  ['port', '1.5', 'a port from 0 to 65535'],
  ['host', '7', 'an address of this machine'],
  ['data', '""', 'a path'],
  ['data', '"a\\u0000b"', 'a path'],
  ['allowOrigin', '"https://a"', 'origins like https://name:port'],
  ['allowHost', '["evil.com/"]', 'names like atrium.example or atrium.example:443'],
  ['logLevel', '"loud"', 'one of trace, debug, info, warn, error, fatal, silent'],
  ['readOnly', '"yes"', 'true or false'],
  ['agentProcesses', '{"idleMinutes": 0}', processes],
  ['agentProcesses', '{"maxIdle": -1}', processes],
  ['agentProcesses', '{"maxIdle": 1.5}', processes],
  ['agentProcesses', '{"idle": 1}', processes],
  ['connectionToken', '"short"', "16 to 512 letters, digits, '-' and '_'"],
])('[D4] %s: %s in the file is refused with the file and the key', async (key, value, wants) => {
  file(`{"${key}": ${value}}`)
  const refusal = { message: `'${key}' in ${path} must be ${wants}.`, exit: 1 }
  await expect(configure({}, environment)).rejects.toMatchObject(refusal)
})

test.each(['', '[]', '1', 'null', '{"port": 1,}', 'secret-of-mine'])(
  '[D4] the file %j is refused',
  async (text) => {
    file(text)
    const refusal = { message: `${path} is not a JSON object; correct it or remove it.`, exit: 1 }
    await expect(configure({}, environment)).rejects.toMatchObject(refusal)
  },
)

test('[D4] invalid variables and flags are refused with their names', async () => {
  const port = { message: 'ATRIUM_PORT must be a port from 0 to 65535.', exit: 1 }
  await expect(configure({}, { ...environment, ATRIUM_PORT: '7433x' })).rejects.toMatchObject(port)
  const token = { message: expect.stringContaining('ATRIUM_TOKEN must be') as string, exit: 1 }
  await expect(configure({}, { ...environment, ATRIUM_TOKEN: 'a b' })).rejects.toMatchObject(token)
  const flag = { message: '--port must be a port from 0 to 65535.', exit: 2 }
  for (const given of ['', 'x', '-1', '65536', '1e3', '0x10', ' 1', '99999'])
    await expect(configure({ port: given }, environment)).rejects.toMatchObject(flag)
})

test('[D5] conflicting settings and incomplete pairs are refused', async () => {
  const both = { withoutConnectionToken: true, connectionTokenFile: '/x' }
  await expect(configure(both, environment)).rejects.toMatchObject({ exit: 2 })
  const inherited = configure(
    { withoutConnectionToken: true },
    { ...environment, ATRIUM_TOKEN: 'x'.repeat(20) },
  )
  await expect(inherited).rejects.toThrow('exclude each other')
  await expect(configure({ tlsCert: '/x' }, environment)).rejects.toThrow('give both')
})

test('[D2] a standby needs a database that it may write, and a lease has a length within bounds', async () => {
  const store = 'postgres://ann@db/atrium'
  const cluster = { store, standby: true, lease: '5', machine: 'one', sharedFolder: ['/srv'] }
  const { settings } = await configure(cluster, environment)
  expect(settings).toMatchObject({ ...cluster, lease: 5 })
  for (const flags of [
    { standby: true },
    { store, standby: true, readOnly: true },
    { store, lease: '1' },
    { store, lease: 'long' },
    { store, machine: 'a b' },
    { store, sharedFolder: ['srv'] },
  ])
    await expect(configure(flags, environment)).rejects.toMatchObject({ exit: 2 })
})
