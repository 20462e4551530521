import { StringDecoder } from 'node:string_decoder'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '@atrium/protocol/limits'
import { escapes } from '../../test/escape-cases.ts'
import type { Escape } from '../../test/escape-case.ts'
import type { Piece, Trust } from './output-part.ts'
import { Stream } from './sanitize.ts'

const everyone: Trust = { hostname: 'here', titleLength: limits.terminalTitle }
const open = (trust = everyone) => new Stream(trust, limits.terminalSequence)

/** What the pieces say together, however often the text was cut. */
function meaning(chunks: Iterable<string>, trust?: Trust): readonly Piece[] {
  const stream = open(trust)
  const all: Piece[] = []
  for (const chunk of chunks)
    for (const piece of stream.push(chunk)) {
      const last = all.at(-1)
      if ('data' in piece && last && 'data' in last) all[all.length - 1] = { data: last.data + piece.data }
      else all.push(piece)
    }
  return all
}

function* decoded(chunks: Iterable<Buffer>): Iterable<string> {
  const decoder = new StringDecoder('utf8')
  for (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}

const shown = (pieces: readonly Piece[]) =>
  pieces.map((piece) => ('data' in piece ? piece.data : '')).join('')
const others = (pieces: readonly Piece[]) => pieces.filter((piece) => !('data' in piece))

test('[S-32] the corpus is large', () => expect(escapes.length).toBeGreaterThan(250))

test.each(escapes)('[S-32] $name', (escape: Escape) => {
  const pieces = meaning([escape.in])
  expect(shown(pieces)).toBe(escape.out ?? escape.in)
  expect(others(pieces)).toEqual(escape.also ?? [])
})

test.each(escapes)('[S-32] $name: cut at every byte, and at each of them at once', ({ in: text }) => {
  const bytes = Buffer.from(`<${text}>`)
  const whole = meaning(decoded([bytes]))
  for (let at = 0; at <= bytes.length; at++)
    expect(meaning(decoded([bytes.subarray(0, at), bytes.subarray(at)])), `cut at ${at}`).toEqual(whole)
  expect(meaning(decoded([...bytes].map((byte) => Buffer.of(byte))))).toEqual(whole)
})

test('[S-32] what was let through is let through again as it is', () => {
  for (const escape of escapes) {
    const once = shown(meaning([escape.in]))
    expect(meaning([once]), escape.name).toEqual(once ? [{ data: once }] : [])
  }
})

const part = fc.oneof(
  fc.constantFrom(...escapes.map((escape) => escape.in)),
  fc.string({
    unit: fc.constantFrom(
      ...'\x1b\x1b[]P_;?0123456789mhcntq\x07\\\x18\x05\x7f\u009b\u009c\u009d ab'.split(''),
    ),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 5 }),
)

test('[S-32] however a text is cut into chunks, it means the same', () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 12 }),
      fc.array(fc.nat(40), { maxLength: 30 }),
      (parts, sizes) => {
        const bytes = Buffer.from(parts.join(''))
        const chunks: Buffer[] = []
        let at = 0
        for (const size of sizes) chunks.push(bytes.subarray(at, (at += size)))
        chunks.push(bytes.subarray(at))
        expect(meaning(decoded(chunks))).toEqual(meaning(decoded([bytes])))
      },
    ),
    { numRuns: 2000 },
  )
})

test('[S-32] nothing that is shown asks or commands, and it stays so when it is read again', () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const once = shown(meaning([parts.join('')]))
      expect(others(meaning([once]))).toEqual([])
      expect(shown(meaning([once]))).toBe(once)
      expect(once).not.toMatch(
        /[\x05\x80-\x9f]|\x1b(?:[P_^XZ]|\](?!8;|4;|1[0-9];|104|11[0-9])|\[\??[\d;]*[cn]|\[>[\d;]*[cq])/,
      )
    }),
    { numRuns: 2000 },
  )
})

test('[S-32] bytes that are no UTF-8 are shown as such, however they are cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), (given, at) => {
      const bytes = Buffer.from(given)
      expect(meaning(decoded([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual(meaning(decoded([bytes])))
    }),
    { numRuns: 2000 },
  )
})

describe('[M6] where only the shell knows a word, marks without it are nobody’s', () => {
  const nonce = 'n0nce'
  const trust = { ...everyone, nonce }
  test.each([
    ['A', { at: 'prompt' }],
    ['C', { at: 'executed' }],
    ['D;1', { at: 'finished', exitCode: 1 }],
    ['D', { at: 'finished' }],
    ['E;rm -rf', { at: 'line', line: 'rm -rf' }],
  ])('633;%s', (text, mark) => {
    const said = (...fields: readonly string[]) => meaning([`\x1b]633;${fields.join(';')}\x07`], trust)
    expect(said(text, nonce)).toEqual([{ mark }])
    for (const wrong of [[text], [text, ''], [text, 'other'], [text, nonce, ''], [nonce, text], [nonce]])
      expect(said(...wrong)).toEqual([])
  })

  test('nor is a directory', () => {
    const here = { cwd: 'file:///x' }
    expect(meaning([`\x1b]633;P;Cwd=/x;${nonce}\x07`], trust)).toEqual([here])
    for (const text of ['633;P;Cwd=/x', '7;file:///x', '1337;CurrentDir=/x', '133;A', '133;C;cmdline_url=x'])
      expect(meaning([`\x1b]${text}\x07`], trust), text).toEqual([])
  })
})

describe('[S-32] bounds', () => {
  const { terminalSequence, terminalTitle } = limits
  const titled = (length: number) => `\x1b]0;${'t'.repeat(length - 2)}\x07x`

  test('[S-57 terminalSequence] at 65,536: it is understood', () => {
    const pieces = meaning([titled(terminalSequence)])
    expect(pieces).toEqual([{ title: 't'.repeat(terminalTitle) }, { data: 'x' }])
    expect(shown(meaning([`\x1b[${'1'.repeat(5)}${';'.repeat(terminalSequence - 5)}m`]))).toHaveLength(
      terminalSequence + 3,
    )
  })

  test('[S-57 terminalSequence] past 65,536: it is dropped, to its end and no further', () => {
    for (const chunks of [[titled(terminalSequence + 1)], titled(terminalSequence + 1)])
      expect(meaning(chunks)).toEqual([{ data: 'x' }])
    expect(meaning([`\x1b[${';'.repeat(terminalSequence + 1)}mx`])).toEqual([{ data: 'x' }])
    expect(meaning([`\x1b${' '.repeat(terminalSequence + 1)}Fx`])).toEqual([{ data: 'x' }])
  })

  test('[S-57 terminalTitle] at 256: it is whole', () =>
    expect(meaning([`\x1b]2;${'t'.repeat(256)}\x07`])).toEqual([{ title: 't'.repeat(256) }]))
  test('[S-57 terminalTitle] past 256: the rest is cut off, and no character in two', () => {
    expect(meaning([`\x1b]2;${'t'.repeat(257)}\x07`])).toEqual([{ title: 't'.repeat(256) }])
    expect(meaning([`\x1b]2;${'t'.repeat(255)}😀\x07`])).toEqual([{ title: 't'.repeat(255) }])
  })

  test('[F-40] a string without an end, and a screen without a line for two days, hold nothing', () => {
    const stream = open()
    const frame = `\x1b[H\x1b[2J${'\x1b[38;5;1m█\x1b[0m'.repeat(500)}`
    const before = memory()
    for (let i = 0; i < 10_000; i++) stream.push(frame)
    stream.push('\x1b]0;')
    for (let i = 0; i < 20_000; i++) stream.push('never ends '.repeat(100))
    stream.push('\x1b_')
    for (let i = 0; i < 20_000; i++) stream.push('never ends '.repeat(100))
    expect(memory() - before).toBeLessThan(4e6)
    expect(stream.push('\x1b\\here')).toEqual([{ data: 'here' }])
  })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const memory = () => {
  collect()
  return process.memoryUsage().heapUsed
}
