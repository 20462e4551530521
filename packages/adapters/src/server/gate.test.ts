import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digest, judgeHost, judgeUpgrade, originOf, protocolFor } from './gate.ts'
import type { Gate, Knock } from './gate.ts'

const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'
const hosts = ['localhost:7433', '127.0.0.1:7433', '[::1]:7433', 'atrium.test']
const gate: Gate = {
  hosts: new Set(hosts),
  own: new Set(hosts.map((host) => `http://${host}`)),
  allowed: new Set(['vscode-file://vscode-app', 'https://app.example']),
  token: digest(token),
}
const open: Gate = { ...gate, token: undefined }

/** A good knock with some headers in place of its own; a list is a header that comes more than once. */
function knock(
  headers: { readonly [name: string]: string | readonly string[] | undefined } = {},
  target = '/',
) {
  const all = { Host: 'localhost:7433', Authorization: `Bearer ${token}`, ...headers }
  const raw = Object.entries(all).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((one) => [name, one]),
  )
  return { target, headers: raw } satisfies Knock
}
const bare = { Authorization: undefined }

describe('[G1] Host (S-04)', () => {
  test.each(hosts)('%s is us', (Host) => expect(judgeHost(gate, knock({ Host }))).toBeUndefined())

  const hostile: readonly (string | readonly string[] | undefined)[] = [
    undefined,
    '',
    ' ',
    'localhost',
    '127.0.0.1',
    '[::1]',
    'localhost:7434',
    'localhost:07433',
    'localhost:74330',
    'localhost:',
    'localhost:7433 ',
    'localhost.:7433',
    'LOCALHOST:7433',
    'localhost:7433.evil.com',
    'localhost.evil.com:7433',
    'evil.com:7433',
    'evil.com',
    '127.0.0.1.nip.io:7433',
    '127.1:7433',
    '2130706433:7433',
    '0x7f.0.0.1:7433',
    '0177.0.0.1:7433',
    '0.0.0.0:7433',
    '127.0.0.2:7433',
    '::1:7433',
    '[::]:7433',
    '[0:0:0:0:0:0:0:1]:7433',
    '[::ffff:127.0.0.1]:7433',
    'user@localhost:7433',
    'localhost:7433@evil.com',
    'localhost:7433/',
    'localhost:7433,evil.com',
    'localhost:7433\tevil.com',
    'locаlhost:7433',
    'localhost\u0000:7433',
    'atrium.test:80',
    'atrium.test.',
    'xatrium.test',
    '__proto__',
    ['localhost:7433', 'localhost:7433'],
    ['localhost:7433', 'evil.com'],
    ['evil.com', 'localhost:7433'],
  ]
  test.each(hostile.map((Host) => [Host]))('%j is refused with 421, also with the token', (Host) => {
    expect(judgeHost(gate, knock({ Host }))).toEqual({ status: 421, why: 'host' })
    expect(judgeUpgrade(gate, knock({ Host }))).toEqual({ status: 421, why: 'host' })
    expect(judgeUpgrade(open, knock({ Host }))).toEqual({ status: 421, why: 'host' })
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
  ])('[G2] the target %j names a host too: %s', (target, status) =>
    expect(judgeHost(gate, knock({}, target))?.status).toBe(status),
  )
})

describe('[G3] Origin (S-03)', () => {
  const good = ['http://localhost:7433', 'http://127.0.0.1:7433', 'http://[::1]:7433', 'http://atrium.test']
  test.each([...good, 'vscode-file://vscode-app', 'https://app.example'])(
    '%s may come with a token',
    (Origin) => expect(judgeUpgrade(gate, knock({ Origin }))).toBeUndefined(),
  )

  const hostile: readonly (string | readonly string[])[] = [
    'null',
    'NULL',
    '',
    ' ',
    '*',
    'undefined',
    'localhost:7433',
    '//localhost:7433',
    'http://',
    'http://localhost',
    'http://localhost:80',
    'http://localhost:7434',
    'http://localhost:74330',
    'http://localhost:07433',
    'https://localhost:7433',
    'ws://localhost:7433',
    'HTTP://localhost:7433',
    'http://LOCALHOST:7433',
    'http://Localhost:7433',
    'http://localhost.:7433',
    'http://localhost:7433/',
    'http://localhost:7433/path',
    'http://localhost:7433?x',
    'http://localhost:7433#x',
    ' http://localhost:7433',
    'http://localhost:7433 ',
    'http://localhost:7433\u0000',
    'http://localhost.evil.com',
    'http://localhost.evil.com:7433',
    'http://localhost:7433.evil.com',
    'http://localhost:7433@evil.com',
    'http://evil.com@localhost:7433',
    'http://evil.com#http://localhost:7433',
    'http://evil.com?http://localhost:7433',
    'http://evil.com/http://localhost:7433',
    'http://evil.com\\@localhost:7433',
    'http://127.0.0.1.nip.io',
    'http://127.0.0.1.nip.io:7433',
    'http://127.0.0.1',
    'http://127.1:7433',
    'http://2130706433:7433',
    'http://0x7f000001:7433',
    'http://0177.0.0.1:7433',
    'http://127.0.0.2:7433',
    'http://0.0.0.0:7433',
    'http://[::]:7433',
    'http://[::ffff:127.0.0.1]:7433',
    'http://[0:0:0:0:0:0:0:1]:7433',
    'http://::1:7433',
    'http://lοcalhost:7433',
    'http://localhost\u3002:7433',
    'http://xlocalhost:7433',
    'http://atrium.test.evil.com',
    'http://evil-atrium.test',
    'http://sub.atrium.test',
    'https://app.example.evil.com',
    'https://app.example:444',
    'http://app.example',
    'https://APP.example',
    'https://app.example/',
    'vscode-file://vscode-app.evil',
    'vscode-file://vscode-app/',
    'vscode-file://VSCODE-APP',
    'vscode-file:vscode-app',
    'vscode-webview://0',
    'file://',
    'file:///etc/passwd',
    'data:text/html,x',
    'javascript:alert(1)',
    'chrome-extension://abcdefghijklmnop',
    'moz-extension://abc',
    'about:blank',
    'blob:http://localhost:7433/1',
    'http://localhost:7433,http://evil.com',
    'http://evil.com http://localhost:7433',
    '__proto__',
    ['http://localhost:7433', 'http://evil.com'],
    ['http://localhost:7433', 'http://localhost:7433'],
  ]
  test.each(hostile.map((Origin) => [Origin]))('%j is refused with 403, also with the token', (Origin) => {
    expect(judgeUpgrade(gate, knock({ Origin }))).toEqual({ status: 403, why: 'origin' })
    expect(judgeUpgrade(open, knock({ Origin }))).toEqual({ status: 403, why: 'origin' })
  })
  test('there are enough of them', () => expect(hostile.length).toBeGreaterThanOrEqual(60))

  test('[G4] no Origin: with the token only', () => {
    expect(judgeUpgrade(gate, knock())).toBeUndefined()
    expect(judgeUpgrade(gate, knock(bare))).toEqual({ status: 403, why: 'token' })
  })

  test('[G5] without a token at all: our own pages and programs, nobody else', () => {
    expect(judgeUpgrade(open, knock(bare))).toBeUndefined()
    for (const Origin of good) expect(judgeUpgrade(open, knock({ ...bare, Origin }))).toBeUndefined()
    for (const Origin of gate.allowed) expect(judgeUpgrade(open, knock({ Origin }))?.why).toBe('origin')
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

describe('[G6] the token (S-02)', () => {
  const protocol = (...entries: readonly string[]) => ({
    ...bare,
    'Sec-WebSocket-Protocol': entries.join(', '),
  })
  const fine: readonly (readonly [string, Knock])[] = [
    ['a bearer', knock()],
    ['a bearer in small letters', knock({ Authorization: undefined, authorization: `bearer ${token}` })],
    ['a query', knock(bare, `/?tkn=${token}`)],
    ['a query on any path', knock(bare, `/a/b?x=1&tkn=${token}&y=2`)],
    ['a protocol', knock(protocol('atrium', `atrium.token.${token}`))],
    [
      'a protocol in a header of its own',
      knock({ ...bare, 'Sec-WebSocket-Protocol': ['a', `atrium.token.${token}`] }),
    ],
    ['the same in two places', knock({}, `/?tkn=${token}`)],
  ]
  test.each(fine)('%s is let in', (_name, good) => expect(judgeUpgrade(gate, good)).toBeUndefined())

  const wrong: readonly (readonly [string, Knock])[] = [
    ['none', knock(bare)],
    ['an empty bearer', knock({ Authorization: 'Bearer ' })],
    ['no bearer', knock({ Authorization: 'Bearer' })],
    ['a scheme alone', knock({ Authorization: token })],
    ['basic', knock({ Authorization: `Basic ${token}` })],
    ['a prefix', knock({ Authorization: `Bearer ${token.slice(0, -1)}` })],
    ['one letter', knock({ Authorization: `Bearer ${token.slice(0, 1)}` })],
    ['a longer one', knock({ Authorization: `Bearer ${token}x` })],
    ['another case', knock({ Authorization: `Bearer ${token.toLowerCase()}` })],
    ['two in one header', knock({ Authorization: `Bearer ${token}, Bearer ${token}` })],
    ['two headers', knock({ Authorization: [`Bearer ${token}`, `Bearer ${token}`] })],
    ['its hash', knock({ Authorization: `Bearer ${digest(token).toString('hex')}` })],
    ['quotes', knock({ Authorization: `Bearer "${token}"` })],
    ['an empty query', knock(bare, '/?tkn=')],
    ['a bare query', knock(bare, '/?tkn')],
    ['a query twice', knock(bare, `/?tkn=${token}&tkn=${token}`)],
    ['a query right and wrong', knock(bare, `/?tkn=${token}&tkn=x`)],
    ['a query with brackets', knock(bare, `/?tkn[]=${token}`)],
    ['another name', knock(bare, `/?token=${token}`)],
    ['another case of the name', knock(bare, `/?TKN=${token}`)],
    ['in the path', knock(bare, `/tkn=${token}`)],
    ['in a fragment', knock(bare, `/#?x&tkn=${token.slice(1)}`)],
    ['a query prefix', knock(bare, `/?tkn=${token.slice(0, 20)}`)],
    ['a protocol without it', knock(protocol('atrium'))],
    ['an empty protocol', knock(protocol('atrium', 'atrium.token.'))],
    ['a protocol twice', knock(protocol(`atrium.token.${token}`, `atrium.token.${token}`))],
    ['a protocol prefix', knock(protocol('atrium', `atrium.token.${token.slice(0, 8)}`))],
    ['another protocol', knock(protocol('atrium', `token.${token}`))],
    ['a cookie', knock({ ...bare, Cookie: `tkn=${token}` })],
    ['another header', knock({ ...bare, 'X-Token': token, 'X-Forwarded-Authorization': `Bearer ${token}` })],
    ['a right one beside a wrong one', knock({}, '/?tkn=wrong')],
    ['a right one beside an empty one', knock({}, '/?tkn=')],
    ['a right query beside basic', knock({ Authorization: 'Basic eDp5' }, `/?tkn=${token}`)],
  ]
  test.each(wrong)('%s is refused with 403', (_name, bad) =>
    expect(judgeUpgrade(gate, bad)).toEqual({ status: 403, why: 'token' }),
  )

  test('whatever is written, only the token itself is let in', () => {
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
          knock({ Authorization: `Bearer ${text}` }),
          knock(bare, `/?tkn=${encodeURIComponent(text)}`),
          knock(protocol('atrium', `atrium.token.${text}`)),
        ]
        // A comma starts another entry, which is then no token.
        return tries.every(
          (bad, at) => (at === 2 && text.includes(',')) || judgeUpgrade(gate, bad)?.status === 403,
        )
      }),
    )
  })

  test('[G7] the protocol that is said back is never the secret one', () => {
    expect(protocolFor(['atrium', `atrium.token.${token}`])).toBe('atrium')
    expect(protocolFor([`atrium.token.${token}`, 'ahp'])).toBe('ahp')
    expect(protocolFor([`atrium.token.${token}`])).toBe(false)
  })
})
