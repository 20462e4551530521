import { expect, test } from 'vitest'
import { hunksOf, isTouched, withoutHunks } from './hunks.ts'
import type { FileSides, Hunk } from './hunks.ts'
import { sidesOf } from './sides.ts'
import { sha256 } from './sha256.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (given: Uint8Array) => new TextDecoder().decode(given)
const sides = (before: string, after: string): FileSides => ({ before: bytes(before), after: bytes(after) })
const hunks = (before: string, after: string): readonly Hunk[] => hunksOf(sides(before, after)) ?? []
const shape = (found: readonly Hunk[]) =>
  found.map(({ before, after }) => [before.from, before.count, after.from, after.count])
const lines = (first: number, last: number) => ({
  start: { line: first, character: 0 },
  end: { line: last, character: 1 },
})

test('[O40.1] [O40] a hunk is the smallest part that differs, and between two hunks there is a common line', () => {
  expect(shape(hunks('a\nb\nc\nd\n', 'a\nB\nc\nd\ne\n'))).toEqual([
    [1, 1, 1, 1],
    [4, 0, 4, 1],
  ])
  expect(shape(hunks('a\nb\nc\n', 'c\n'))).toEqual([[0, 2, 0, 0]])
  expect(shape(hunks('', 'a\nb'))).toEqual([[0, 0, 0, 2]])
  expect(shape(hunks('a', 'a\n'))).toEqual([[0, 1, 0, 1]])
  expect(shape(hunks('x\ny\nz\n', 'y\nx\nz\n'))).toHaveLength(2)
  expect(hunks('same\n', 'same\n')).toEqual([])
})

test('[O40] the hash of a hunk depends on its lines alone, not on where they are', () => {
  const [alone] = hunks('a\nb\n', 'a\nB\n')
  const [, moved] = hunks('a\nb\n', 'new\na\nB\n')
  expect(moved?.hash).toBe(alone?.hash)
  expect(hunks('a\nb\n', 'a\nBB\n')[0]?.hash).not.toBe(alone?.hash)
  // Removing and adding the same line are different hunks.
  expect(hunks('a\n', 'a\nb\n')[0]?.hash).not.toBe(hunks('a\nb\n', 'a\n')[0]?.hash)
})

test('[O40] the hash of a hunk is a SHA-256', () => {
  expect(sha256(bytes(''))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(sha256(bytes('abc'))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  const long = 'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'
  expect(sha256(bytes(long))).toBe('248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1')
})

test('[O40.2] a file of more than 4 MiB has no hunks', async () => {
  const captures = { read: async () => bytes('a\n') }
  const sized = (size: number) => sidesOf(captures, { after: { content: 'c', mode: '100644', size } })
  expect(await sized(4 * 1024 * 1024)).toEqual({ before: bytes(''), after: bytes('a\n') })
  expect(await sized(4 * 1024 * 1024 + 1)).toBeUndefined()
})

test('[O40.1] [O40.2] [O40] binary files have no hunks; texts with hardly anything in common are one', () => {
  expect(hunksOf({ before: new Uint8Array([1, 0]), after: bytes('a') })).toBeUndefined()
  const many = (word: string) => Array.from({ length: 5000 }, (_, n) => `${word} ${n}\n`).join('')
  expect(shape(hunks(`same\n${many('a')}`, `same\n${many('b')}`))).toEqual([[1, 5000, 1, 5000]])
})

test('[O40.1] [O40] of random texts, all hunks taken back give the earlier text, with a common line between any two', () => {
  let state = 7
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let round = 0; round < 500; round++) {
    const some = () => Array.from({ length: random(12) }, () => `${'abcd'[random(4)]}\n`).join('')
    const [before, after] = [some(), some()]
    const both = sides(before, after)
    const found = hunksOf(both) ?? []
    expect(text(withoutHunks(both, found)), JSON.stringify([before, after])).toBe(before)
    for (const [at, hunk] of found.slice(1).entries())
      for (const side of ['before', 'after'] as const) {
        const before = found[at]?.[side]
        expect(hunk[side].from).toBeGreaterThan((before?.from ?? 0) + (before?.count ?? 0))
      }
  }
})

test('[O40.3] [O40] a range touches the hunks whose lines it has; a place without lines counts with its neighbours', () => {
  const [changed, removed] = hunks('a\nb\nc\nd\ne\nf\n', 'a\nB\nc\nd\nf\n')
  const touched = (first: number, last: number) =>
    [changed, removed].map((hunk) => hunk !== undefined && isTouched(hunk, 'after', lines(first, last)))
  expect(touched(1, 1)).toEqual([true, false])
  expect(touched(0, 0)).toEqual([false, false])
  expect(touched(3, 3)).toEqual([false, true])
  expect(touched(4, 4)).toEqual([false, true])
  expect(touched(0, 9)).toEqual([true, true])
  const endsBefore = { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } }
  expect(changed && isTouched(changed, 'after', endsBefore)).toBe(false)
  expect(removed && isTouched(removed, 'before', lines(4, 4))).toBe(true)
})
