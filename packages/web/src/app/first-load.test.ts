import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { fragmentOf, routeOf } from '../ui/route.ts'

const folder = fileURLToPath(new URL('../../dist/page/', import.meta.url))
const html = readFileSync(`${folder}index.html`, 'utf8')

test('[U22] the first load of the built page has at most 150 KB', () => {
  const names = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, name]) => name ?? '')
  expect(names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.css'))).toBe(true)
  const sizes = ['index.html', ...names].map((name) => gzipSync(readFileSync(`${folder}${name}`)).length)
  expect(sizes.reduce((sum, size) => sum + size, 0) / 1024).toBeLessThanOrEqual(150)
})

test('[S-42] the built page has no script and no style in its markup, and names no other host', () => {
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/)
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test.each([
  ['#/', {}],
  ['', {}],
  ['#/session/abc', { session: 'ahp-session:/abc' }],
  ['#/session/abc/ahp-chat%3A%2Fone', { session: 'ahp-session:/abc', chat: 'ahp-chat:/one' }],
  ['#/session/other%3A%2F%2Fx', { session: 'other://x' }],
  ['#/session/%E0%A4%A', { session: 'ahp-session:/%E0%A4%A' }],
  ['#/sessions', { place: 'sessions' }],
  ['#/settings', { place: 'settings' }],
  ['#/elsewhere/abc', {}],
])('[S-43] the address %j shows %j', (fragment, route) => {
  expect(routeOf(fragment)).toEqual(route)
})

test('[S-43] the address of a route leads back to it', () => {
  for (const route of [
    {},
    { place: 'settings' as const },
    { session: 'ahp-session:/a b' },
    { session: 'x:/1', chat: 'ahp-chat:/a/b' },
  ])
    expect(routeOf(fragmentOf(route))).toEqual(route)
})
