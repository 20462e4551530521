import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkedToken, readToken, rotateToken, tokenOf } from './token.ts'

let home = ''
let umask = 0
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'atrium-token-'))
  umask = process.umask(0)
})
afterEach(() => process.umask(umask))

const modeOf = (path: string) => statSync(path).mode & 0o777

test.each([0o000, 0o022, 0o377])(
  'S-05: under umask %o the folder is 0700 and the token 0600',
  async (mask) => {
    process.umask(mask)
    const folder = join(home, 'data')
    const token = await tokenOf(folder)
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
    expect([modeOf(folder), modeOf(join(folder, 'token'))]).toEqual([0o700, 0o600])
    expect(readdirSync(folder)).toEqual(['token'])
  },
)

test('[T1] a folder has one token: it survives restarts, and concurrent hosts get the same', async () => {
  const tokens = await Promise.all([tokenOf(home), tokenOf(home), tokenOf(home)])
  expect(new Set([...tokens, await tokenOf(home)]).size).toBe(1)
  expect(readdirSync(home)).toEqual(['token'])
})

test('[T2] rotating creates another token with the same permissions', async () => {
  const before = await tokenOf(home)
  const after = await rotateToken(home)
  expect(after).not.toBe(before)
  expect(await tokenOf(home)).toBe(after)
  expect(modeOf(join(home, 'token'))).toBe(0o600)
  expect(readdirSync(home)).toEqual(['token'])
})

test('S-05: a token file that others can read is refused, with the command that repairs it', async () => {
  await tokenOf(home)
  const path = join(home, 'token')
  for (const mode of [0o640, 0o604, 0o666]) {
    chmodSync(path, mode)
    await expect(tokenOf(home)).rejects.toThrow(`chmod 600 '${path}'`)
  }
})

test('S-05: a token file that is a link is refused', async () => {
  const path = join(home, 'token')
  writeFileSync(join(home, 'other'), 'x'.repeat(43), { mode: 0o600 })
  symlinkSync(join(home, 'other'), path)
  await expect(tokenOf(home)).rejects.toThrow('is a link')
})

test('[T1] a folder where the token file belongs, and a file where the folder belongs, are named with what to do', async () => {
  mkdirSync(join(home, 'token'), { mode: 0o700 })
  const place = 'is a folder where the token file belongs; move it away'
  await expect(readToken(join(home, 'token'))).rejects.toThrow(place)
  await expect(tokenOf(home)).rejects.toThrow(place)
  await expect(rotateToken(home)).rejects.toThrow(place)
  expect(readdirSync(home)).toEqual(['token'])
  const file = join(home, 'token', 'file')
  writeFileSync(file, '')
  for (const folder of [file, join(file, 'below')])
    await expect(tokenOf(folder)).rejects.toThrow('move the file away, or name a folder with --data')
})

test('S-05: a token file of another user is refused', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('skipped: not root')
  writeFileSync(join(home, 'other'), 'x'.repeat(43), { mode: 0o600 })
  chownSync(join(home, 'other'), 12345, 12345)
  await expect(readToken(join(home, 'other'))).rejects.toThrow('another user')
})

test('[T3] an open folder with other files keeps its permissions; an empty one is made private', async () => {
  const folder = join(home, 'shared')
  mkdirSync(folder, { mode: 0o755 })
  await tokenOf(folder)
  expect(modeOf(folder)).toBe(0o700)
  const other = join(home, 'other')
  mkdirSync(other, { mode: 0o755 })
  writeFileSync(join(other, 'letter.txt'), '')
  await expect(tokenOf(other)).rejects.toThrow(`chmod 700 '${other}'`)
  expect([modeOf(other), readdirSync(other)]).toEqual([0o755, ['letter.txt']])
})

test.each([
  '',
  'short',
  'x'.repeat(15),
  'x'.repeat(513),
  `${'x'.repeat(20)} y`,
  'x'.repeat(20) + '\u00fc',
  '../'.repeat(9),
])('[T4] %j is not a token', async (text) => {
  expect(() => checkedToken(text, 'a test')).toThrow('The token from a test is not')
  const path = join(home, 'token')
  writeFileSync(path, text, { mode: 0o600 })
  await expect(tokenOf(home)).rejects.toThrow('is not')
  expect(readFileSync(path, 'utf8')).toBe(text)
})
