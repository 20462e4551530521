import type { Client } from '@atrium/client/client'
import { expect, test } from 'vitest'
import { may, roleOf } from './role.ts'

// Only `host` of a client is read here: hence the cast.
const client = (host: unknown) => ({ host }) as Client
const device = (role: unknown) => client({ _meta: { 'x-atrium': { device: { role } } } })

test('[U37] the role of a page is that of its device, and `own` for a page that is no device', () => {
  expect(roleOf(device('watch'))).toBe('watch')
  expect(roleOf(client({}))).toBe('own')
  expect(roleOf(device('emperor'))).toBe('own')
  expect(roleOf(client(undefined))).toBeUndefined()
})

test('[U37] a role has the rights of the roles before it; a page without a known role tries', () => {
  expect(may('approve', 'prompt')).toBe(true)
  expect(may('approve', 'approve')).toBe(true)
  expect(may('prompt', 'approve')).toBe(false)
  expect(may(undefined, 'own')).toBe(true)
})
