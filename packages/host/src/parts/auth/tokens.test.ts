import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { testWorld } from '../../../test/world.ts'
import { isForAnother } from './audience.ts'
import { Tokens } from './tokens.ts'

const a = { resource: 'https://a.example' }
const named = (n: number) => ({ resource: `https://${n}.example` })

function tokens() {
  const world = testWorld()
  const expired: string[] = []
  const all = new Tokens(world, limits, (principal, { resource }) => expired.push(`${principal} ${resource}`))
  const has = (principal = 'ann', resource = a.resource) => all.of(principal, resource)
  return { all, world, expired, has }
}

test('[J8] a token belongs to one principal and one resource, compared exactly', () => {
  const { all, has } = tokens()
  all.keep('ann', a, 'T')
  expect(has()).toBe('T')
  for (const other of ['https://a.example/', 'https://A.example', 'https://a.exampl', ''])
    expect(has('ann', other)).toBeUndefined()
  expect([has('ben'), has('Ann'), has('')]).toEqual([undefined, undefined, undefined])
  all.keep('ann', a, 'U')
  expect(has()).toBe('U')
  all.forget('ann', a.resource)
  expect(has()).toBeUndefined()
})

test('[J8] inspecting the object does not show the tokens', async () => {
  const { all } = tokens()
  all.keep('ann', a, 'canary')
  const { inspect } = await import('node:util')
  expect(`${JSON.stringify(all)} ${inspect(all, { depth: 10, showHidden: true })}`).not.toContain('canary')
})

test('[J8.1] [J8] a token is valid until it expires, and the expiry is reported once', () => {
  const { all, world, expired, has } = tokens()
  all.keep('ann', a, 'T', 10)
  world.advance(9999)
  expect([has(), expired]).toEqual(['T', []])
  world.advance(1)
  expect([has(), expired]).toEqual([undefined, ['ann https://a.example']])
  world.advance(1_000_000)
  expect([has(), expired.length]).toEqual([undefined, 1])
})

test('[J8] a token that was replaced or revoked does not expire later', () => {
  const { all, world, expired, has } = tokens()
  all.keep('ann', a, 'T', 10)
  all.keep('ann', a, 'U', 20)
  world.advance(15_000)
  expect([has(), expired]).toEqual(['U', []])
  all.forget('ann', a.resource)
  world.advance(15_000)
  expect(expired).toEqual([])
})

test('[J8] [F-13] a clock that jumps ahead expires a token', () => {
  const { all, world, expired, has } = tokens()
  all.keep('ann', a, 'T', 10)
  const { now } = world
  world.now = () => now() + 3_600_000
  expect([has(), expired.length]).toEqual([undefined, 1])
  expect([has(), expired.length]).toEqual([undefined, 1])
})

test.each([60 * 60 * 24 * 365, Number.MAX_SAFE_INTEGER])(
  '[J8] a token for %d s does not expire at once',
  (seconds) => {
    const { all, world, has } = tokens()
    const waits: number[] = []
    const { later } = world
    world.later = (ms, task) => (waits.push(ms), later(ms, task))
    all.keep('ann', a, 'T', seconds)
    for (let day = 0; day < 364; day++) world.advance(86_400_000)
    expect(has()).toBe('T')
    // Node runs a timer of more than 2^31 ms at once.
    expect(Math.max(...waits)).toBeLessThan(2 ** 31)
    for (let day = 0; day < 2; day++) world.advance(86_400_000)
    expect(has()).toBe(seconds > 1e12 ? 'T' : undefined)
  },
)

test('[S-57 tokens] at 64: all tokens are kept', () => {
  const { all, has } = tokens()
  for (let n = 0; n < 64; n++) all.keep('ann', named(n), `T${n}`)
  all.keep('ben', named(99), 'B')
  for (let n = 0; n < 64; n++) expect(has('ann', named(n).resource)).toBe(`T${n}`)
})

test('[S-57 tokens] past 64: the oldest token of this principal is forgotten, and no other', () => {
  const { all, has } = tokens()
  all.keep('ben', a, 'B')
  for (let n = 0; n < 64; n++) all.keep('ann', named(n), `T${n}`)
  all.keep('ann', named(0), 'again')
  all.keep('ann', named(64), 'T64')
  expect([has('ann', named(0).resource), has('ann', named(1).resource), has('ben')]).toEqual([
    'again',
    undefined,
    'B',
  ])
})

test('[S-57 tokenGraceMs] at 3,600,000: the tokens of a principal without links are deleted', () => {
  const { all, world, has, expired } = tokens()
  all.linkOpened('ann')
  all.linkOpened('ann')
  all.keep('ann', a, 'T')
  all.linkClosed('ann')
  world.advance(3_600_000)
  expect(has()).toBe('T')
  all.linkClosed('ann')
  world.advance(3_599_999)
  expect(has()).toBe('T')
  world.advance(1)
  expect([has(), expired]).toEqual([undefined, []])
})

test('[S-57 tokenGraceMs] past 3,600,000: a principal that came back in time still has them', () => {
  const { all, world, has } = tokens()
  all.linkOpened('ann')
  all.keep('ann', a, 'T')
  all.linkClosed('ann')
  world.advance(3_599_999)
  all.linkOpened('ann')
  world.advance(10_000_000)
  expect(has()).toBe('T')
  all.linkClosed('ann')
  world.advance(3_600_001)
  expect(has()).toBeUndefined()
})

const jwt = (claims: unknown) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`

test.each([
  ['another place', jwt({ aud: 'https://b.example' }), true],
  ['other places', jwt({ aud: ['https://b.example', 'https://c.example/x'] }), true],
  ['a place whose name begins alike', jwt({ aud: 'https://a.example.evil' }), true],
  ['this place', jwt({ aud: 'https://a.example' }), false],
  ['this place, further down', jwt({ aud: 'https://A.example/v1' }), false],
  ['this one among others', jwt({ aud: ['https://b.example', 'https://a.example'] }), false],
  ['a name', jwt({ aud: '6f1b2c' }), false],
  ['a name and another place', jwt({ aud: ['6f1b2c', 'https://b.example'] }), false],
  ['nobody', jwt({}), false],
  ['null', jwt({ aud: null }), false],
  ['what is no object', jwt(null), false],
  ['what is no JSON', 'e30.bm90.sig', false],
  ['what is no base64', 'a.b!c.d', false],
  ['nothing that can be read', 'gho_16C7e42F292c6912E7', false],
  ['dots', '..', false],
])('[J7.2] [J7] S-48: a token that is for %s', (_, token, another) => {
  expect(isForAnother(token, 'https://a.example/mcp')).toBe(another)
})
