import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digest, checkHost, checkUpgrade, originOf, selectProtocol } from './gate.ts'
import type { Gate, RequestHead } from './gate.ts'
import { hostileHosts, hostileOrigins } from '../../test/hostile-headers.ts'

const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'
const hosts = ['localhost:7433', '127.0.0.1:7433', '[::1]:7433', 'atrium.test']
const gate: Gate = {
  hosts: new Set(hosts),
  ownOrigins: new Set(hosts.map((host) => `http://${host}`)),
  allowedOrigins: new Set(['vscode-file://vscode-app', 'https://app.example']),
  tokenDigest: digest(token),
  deviceWith: () => undefined,
}
const open: Gate = { ...gate, tokenDigest: undefined }

/** A request that is accepted, with some headers replaced. A list is a header that occurs several times. */
function request(
  headers: { readonly [name: string]: string | readonly string[] | undefined } = {},
  target = '/',
) {
  const all = { Host: 'localhost:7433', Authorization: `Bearer ${token}`, ...headers }
  const raw = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, one]),
  )
  return { target, headers: raw } satisfies RequestHead
}
const bare = { Authorization: undefined }

describe('[G1] [S-04] Host', () => {
  test.each(hosts)('%s is accepted', (Host) => expect(checkHost(gate, request({ Host }))).toBeUndefined())

  test.each(hostileHosts.map((Host) => [Host]))('%j is refused with 421, even with the token', (Host) => {
    expect(checkHost(gate, request({ Host }))).toEqual({ status: 421, why: 'host' })
    expect(checkUpgrade(gate, request({ Host }))).toEqual({ status: 421, why: 'host' })
    expect(checkUpgrade(open, request({ Host }))).toEqual({ status: 421, why: 'host' })
  })

  test.each([
    ['/any/path?x=http://evil.com', undefined],
    ['//evil.com/', undefined],
    ['http://localhost:7433/healthz', undefined],
    ['http://127.0.0.1:7433?x', undefined],
    ['http://evil.com/', 421],
    ['http://localhost:7433@evil.com/', 421],
    ['http://localhost:7433\\@evil.com/', 421],
    ['http:///', 421],
    ['ftp://localhost:7433/', 421],
    ['localhost:7433', 421],
    ['*', 421],
    ['', 421],
  ])('[G2] the host in the target %j is checked too: %s', (target, status) =>
    expect(checkHost(gate, request({}, target))?.status).toBe(status),
  )
})

describe('[G3] [S-03] Origin', () => {
  const good = ['http://localhost:7433', 'http://127.0.0.1:7433', 'http://[::1]:7433', 'http://atrium.test']
  test.each([...good, 'vscode-file://vscode-app', 'https://app.example'])(
    '%s is accepted with a token',
    (Origin) => expect(checkUpgrade(gate, request({ Origin }))).toBeUndefined(),
  )

  test.each(hostileOrigins.map((Origin) => [Origin]))(
    '%j is refused with 403, even with the token',
    (Origin) => {
      expect(checkUpgrade(gate, request({ Origin }))).toEqual({ status: 403, why: 'origin' })
      expect(checkUpgrade(open, request({ Origin }))).toEqual({ status: 403, why: 'origin' })
    },
  )
  test('the list has at least 60 hostile origins', () =>
    expect(hostileOrigins.length).toBeGreaterThanOrEqual(60))

  test('[G4] without Origin, the token is required', () => {
    expect(checkUpgrade(gate, request())).toBeUndefined()
    expect(checkUpgrade(gate, request(bare))).toEqual({ status: 403, why: 'token' })
  })

  test('[G5] a host without a token accepts its own pages and programs only', () => {
    expect(checkUpgrade(open, request(bare))).toBeUndefined()
    for (const Origin of good) expect(checkUpgrade(open, request({ ...bare, Origin }))).toBeUndefined()
    for (const Origin of gate.allowedOrigins)
      expect(checkUpgrade(open, request({ Origin }))?.why).toBe('origin')
  })

  test.each([
    ['https://App.Example/', 'https://app.example'],
    ['http://a:80', 'http://a'],
    ['vscode-file://vscode-app', 'vscode-file://vscode-app'],
    ['null', undefined],
    ['*', undefined],
    ['https://a/b', undefined],
    ['https://u@a', undefined],
    ['file:///x', undefined],
  ])('%j as an allowed origin is %j', (text, origin) => expect(originOf(text)).toBe(origin))
})

describe('[G6] [S-02] the token', () => {
  const protocol = (...entries: readonly string[]) => ({
    ...bare,
    'Sec-WebSocket-Protocol': entries.join(', '),
  })
  const fine: readonly (readonly [string, RequestHead])[] = [
    ['a bearer', request()],
    ['a bearer in lower case', request({ Authorization: undefined, authorization: `bearer ${token}` })],
    ['a query', request(bare, `/?tkn=${token}`)],
    ['a query on any path', request(bare, `/a/b?x=1&tkn=${token}&y=2`)],
    ['a protocol', request(protocol('atrium', `atrium.token.${token}`))],
    [
      'a protocol in a header of its own',
      request({ ...bare, 'Sec-WebSocket-Protocol': ['a', `atrium.token.${token}`] }),
    ],
    ['the same in two places', request({}, `/?tkn=${token}`)],
  ]
  test.each(fine)('%s is accepted', (_name, good) => expect(checkUpgrade(gate, good)).toBeUndefined())

  const wrong: readonly (readonly [string, RequestHead])[] = [
    ['none', request(bare)],
    ['an empty bearer', request({ Authorization: 'Bearer ' })],
    ['no bearer', request({ Authorization: 'Bearer' })],
    ['a scheme alone', request({ Authorization: token })],
    ['basic', request({ Authorization: `Basic ${token}` })],
    ['a prefix', request({ Authorization: `Bearer ${token.slice(0, -1)}` })],
    ['one letter', request({ Authorization: `Bearer ${token.slice(0, 1)}` })],
    ['a longer one', request({ Authorization: `Bearer ${token}x` })],
    ['another case', request({ Authorization: `Bearer ${token.toLowerCase()}` })],
    ['two in one header', request({ Authorization: `Bearer ${token}, Bearer ${token}` })],
    ['two headers', request({ Authorization: [`Bearer ${token}`, `Bearer ${token}`] })],
    ['its hash', request({ Authorization: `Bearer ${digest(token).toString('hex')}` })],
    ['quotes', request({ Authorization: `Bearer "${token}"` })],
    ['an empty query', request(bare, '/?tkn=')],
    ['a bare query', request(bare, '/?tkn')],
    ['a query twice', request(bare, `/?tkn=${token}&tkn=${token}`)],
    ['a query right and wrong', request(bare, `/?tkn=${token}&tkn=x`)],
    ['a query with brackets', request(bare, `/?tkn[]=${token}`)],
    ['another name', request(bare, `/?token=${token}`)],
    ['another case of the name', request(bare, `/?TKN=${token}`)],
    ['in the path', request(bare, `/tkn=${token}`)],
    ['in a fragment', request(bare, `/#?x&tkn=${token.slice(1)}`)],
    ['a query prefix', request(bare, `/?tkn=${token.slice(0, 20)}`)],
    ['a protocol without it', request(protocol('atrium'))],
    ['an empty protocol', request(protocol('atrium', 'atrium.token.'))],
    ['a protocol twice', request(protocol(`atrium.token.${token}`, `atrium.token.${token}`))],
    ['a protocol prefix', request(protocol('atrium', `atrium.token.${token.slice(0, 8)}`))],
    ['another protocol', request(protocol('atrium', `token.${token}`))],
    ['a cookie', request({ ...bare, Cookie: `tkn=${token}` })],
    [
      'another header',
      request({ ...bare, 'X-Token': token, 'X-Forwarded-Authorization': `Bearer ${token}` }),
    ],
    ['a right one beside a wrong one', request({}, '/?tkn=wrong')],
    ['a right one beside an empty one', request({}, '/?tkn=')],
    ['a right query beside basic', request({ Authorization: 'Basic eDp5' }, `/?tkn=${token}`)],
  ]
  test.each(wrong)('%s is refused with 403', (_name, bad) =>
    expect(checkUpgrade(gate, bad)).toEqual({ status: 403, why: 'token' }),
  )

  test('of random texts, only the token itself is accepted', () => {
    const near = fc.oneof(
      fc.string(),
      fc.nat(token.length - 1).map((at) => token.slice(0, at)),
      fc.nat(token.length - 1).map((at) => `${token.slice(0, at)}!${token.slice(at + 1)}`),
      fc.string({ minLength: 1 }).map((tail) => token + tail),
    )
    fc.assert(
      fc.property(near, (text) => {
        fc.pre(text.trim() !== token)
        const tries = [
          request({ Authorization: `Bearer ${text}` }),
          request(bare, `/?tkn=${encodeURIComponent(text)}`),
          request(protocol('atrium', `atrium.token.${text}`)),
        ]
        // A comma starts another protocol name, so the text behind the comma is not part of a token.
        return tries.every(
          (bad, at) => (at === 2 && text.includes(',')) || checkUpgrade(gate, bad)?.status === 403,
        )
      }),
    )
  })

  test('[G7] the response never names the protocol with the token', () => {
    expect(selectProtocol(['atrium', `atrium.token.${token}`])).toBe('atrium')
    expect(selectProtocol([`atrium.token.${token}`, 'ahp'])).toBe('ahp')
    expect(selectProtocol([`atrium.token.${token}`])).toBe(false)
  })
})
