import { expect, test } from 'vitest'
import { isReached } from './reached.ts'

test.each([
  ['http://localhost:5173/', 'localhost', true],
  ['http://127.0.0.1:5173/', 'localhost', true],
  ['http://[::1]:5173/', '127.0.0.1', true],
  ['http://app.localhost:5173/', '[::1]', true],
  ['http://localhost:5173/', 'atrium.example', false],
  ['http://127.0.0.1:5173/', '192.168.1.2', false],
  ['http://[::1]:5173/', 'localhost.example', false],
  ['https://preview.example/', 'atrium.example', true],
])('[U63] %s on a page of %s is reached: %s', (address, pageHost, reached) => {
  expect(isReached(address, pageHost)).toBe(reached)
})
