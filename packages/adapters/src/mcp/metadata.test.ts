import { expect, test } from 'vitest'
import { limits } from '@atrium/protocol/limits'
import { manualTimers, realTimers } from '../../test/acp.ts'
import { listen } from '../../test/mcp/http.ts'
import { until } from '../../test/shells.ts'
import { isLoopback, isPublicAddress, publicLookup } from '../network/address.ts'
import { covers } from './authorization.ts'
import { fetchMetadata } from './metadata.ts'

const options = (origin: string) => ({ server: new URL(`${origin}/mcp`), limits, later: realTimers })

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.1.1.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.0.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.9.9',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fd12::1',
  'fe80::1',
  'ff02::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'not an address',
  '',
])('[F12.1] [F12] S-47: %s is not a public address', (address) =>
  expect(isPublicAddress(address)).toBe(false),
)

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1'])(
  '[F12] S-47: %s is a public address',
  (address) => expect(isPublicAddress(address)).toBe(true),
)

test.each([
  'http://example.com/m',
  'https://127.0.0.1/m',
  'https://0/m',
  'https://0x7f.1/m',
  'https://017700000001/m',
  'https://2130706433/m',
  'https://[::1]/m',
  'https://[::ffff:127.0.0.1]/m',
  'https://user:secret@example.com/m',
  'https://localhost/m',
  'file:///etc/passwd',
  'no url',
])('[F12.1] [F12] S-47: %s is not fetched', async (url) =>
  expect(await fetchMetadata(url, options('https://server.example'))).toBeUndefined(),
)

test('[F12.1] [F12] S-47: a name with one address that is not public is not asked, and the checked address is the one that is used', async () => {
  const answers = [['8.8.8.8'], ['8.8.8.8', '10.0.0.1'], ['127.0.0.1'], []]
  const lookup = publicLookup((_, __, callback) =>
    callback(
      null,
      (answers.shift() ?? []).map((address) => ({ address, family: 4 })),
    ),
  )
  const resolved = () =>
    new Promise<unknown>((resolve) =>
      lookup('example.com', {}, (error, address) => resolve(error ? error.message : address)),
    )
  expect([await resolved(), await resolved(), await resolved(), await resolved()]).toEqual([
    '8.8.8.8',
    'example.com has an address that is not public',
    'example.com has an address that is not public',
    'no address',
  ])
})

test('[F12.1] [F12] the server’s own origin may be asked, and its redirects are checked', async () => {
  const seen: (string | undefined)[] = []
  const { origin } = await listen(({ url = '', headers }, response) => {
    seen.push(headers.authorization)
    const to = { '/away': 'https://127.0.0.1/m', '/plain': 'http://example.com/m', '/on': '/m' }[url]
    if (to) return response.writeHead(302, { location: to }).end()
    response.end('{"resource":"r"}')
  })
  expect(await fetchMetadata(`${origin}/m`, options(origin))).toEqual({ resource: 'r' })
  expect(await fetchMetadata(`${origin}/on`, options(origin))).toEqual({ resource: 'r' })
  expect(await fetchMetadata(`${origin}/away`, options(origin))).toBeUndefined()
  expect(await fetchMetadata(`${origin}/plain`, options(origin))).toBeUndefined()
  expect(seen.every((value) => value === undefined)).toBe(true)
})

const redirecting = (count: number) =>
  listen(({ url = '' }, response) => {
    const at = Number(url.slice(1))
    if (at < count) response.writeHead(302, { location: `/${at + 1}` }).end()
    else response.end('{"found":true}')
  })

test('[F12] [S-57 metadataRedirects] at 3 redirects the metadata is found', async () => {
  const { origin } = await redirecting(3)
  expect(await fetchMetadata(`${origin}/0`, options(origin))).toEqual({ found: true })
})

test('[F12] [S-57 metadataRedirects] past 3 redirects it counts as missing', async () => {
  const { origin } = await redirecting(4)
  expect(await fetchMetadata(`${origin}/0`, options(origin))).toBeUndefined()
})

const ofBytes = (bytes: number) => listen((_, response) => response.end(`{"a":"${'x'.repeat(bytes - 8)}"}`))

test('[F12] [S-57 metadataBytes] at 1,048,576 bytes the metadata is read', async () => {
  const { origin } = await ofBytes(1_048_576)
  expect(await fetchMetadata(`${origin}/m`, options(origin))).toBeDefined()
})

test('[F12] [S-57 metadataBytes] past 1,048,576 bytes it counts as missing', async () => {
  const { origin } = await ofBytes(1_048_577)
  expect(await fetchMetadata(`${origin}/m`, options(origin))).toBeUndefined()
})

test('[F12] [S-57 metadataMs] at 5,000 ms metadata that has not come counts as missing', async () => {
  const { later, pass, timers } = manualTimers()
  const { origin } = await listen(() => {})
  const fetching = fetchMetadata(`${origin}/m`, { ...options(origin), later })
  await until(() => timers.size === 1)
  pass(4999)
  expect(timers.size).toBe(1)
  pass(5000)
  expect(await fetching).toBeUndefined()
})

test('[F12] [S-57 metadataMs] past 5,000 ms the connection is closed', async () => {
  const { later, pass } = manualTimers()
  let isClosed = false
  let isAsked = false
  const { origin } = await listen((request, response) => {
    isAsked = true
    response.write('{')
    request.on('close', () => (isClosed = true))
  })
  const fetching = fetchMetadata(`${origin}/m`, { ...options(origin), later })
  await until(() => isAsked)
  pass(5000)
  expect(await fetching).toBeUndefined()
  await until(() => isClosed)
})

test.each([
  ['https://a.example/mcp', 'https://a.example/mcp', true],
  ['https://a.example', 'https://a.example/mcp', true],
  ['https://a.example/', 'https://a.example/mcp/x', true],
  ['https://a.example/mcp', 'https://a.example/mcp/x', true],
  ['https://a.example/mc', 'https://a.example/mcp', false],
  ['https://a.example/mcp/x', 'https://a.example/mcp', false],
  ['https://b.example/mcp', 'https://a.example/mcp', false],
  ['http://a.example/mcp', 'https://a.example/mcp', false],
  ['https://a.example.evil/mcp', 'https://a.example/mcp', false],
  ['no url', 'https://a.example/mcp', false],
])('[F11] S-48: whether the resource %s includes %s', (resource, address, includes) =>
  expect(covers(resource, new URL(address))).toBe(includes),
)

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['127.0.0.1.evil.example', false],
  ['example.com', false],
])('[F11] S-48: whether %s is this machine, to which a token may go without encryption', (name, is) =>
  expect(isLoopback(name)).toBe(is),
)
