import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pluginCopies } from './plugin-copies.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('[H17.7] a copy has the files of the plugin, private, and its scripts are executable', async () => {
  const copies = await pluginCopies(folder())
  const { path, files } = copies.at('abc')
  await copies.write('abc', [
    { path: 'bin/run', content: bytes('#!/bin/sh\n') },
    { path: 'data.bin', content: new Uint8Array([0, 255]) },
  ])
  expect([...(await files.read('data.bin', 100))]).toEqual([0, 255])
  expect(statSync(join(path, 'bin/run')).mode & 0o777).toBe(0o700)
  expect(statSync(join(path, 'data.bin')).mode & 0o777).toBe(0o600)
})

test('[H17.7] a copy that is written again has nothing of the one before, and a start begins with none', async () => {
  const below = folder()
  const copies = await pluginCopies(below)
  const { path } = copies.at('abc')
  await copies.write('abc', [{ path: 'a', content: bytes('1') }])
  writeFileSync(join(path, 'foreign'), '')
  await copies.write('abc', [{ path: 'a', content: bytes('2') }])
  expect(readFileSync(join(path, 'a'), 'utf8')).toBe('2')
  expect(existsSync(join(path, 'foreign'))).toBe(false)
  await pluginCopies(below)
  expect(existsSync(path)).toBe(false)
})

test('[H17.7] a copy that cannot be written leaves nothing', async () => {
  const below = folder()
  const copies = await pluginCopies(below)
  const twice = [
    { path: 'a', content: bytes('1') },
    { path: 'a', content: bytes('2') },
  ]
  await expect(copies.write('abc', twice)).rejects.toThrow('EEXIST')
  expect(existsSync(copies.at('abc').path)).toBe(false)
})

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'atrium-copies-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'copies'))
  return join(root, 'copies')
}
