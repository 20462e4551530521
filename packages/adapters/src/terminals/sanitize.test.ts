import { StringDecoder } from 'node:string_decoder'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { limits } from '@atrium/protocol/limits'
import { escapeCases } from '../../test/escape-cases.ts'
import type { EscapeCase } from '../../test/escape-case.ts'
import type { OutputPart } from './output-part.ts'
import type { OscOptions } from './osc-strings.ts'
import { Sanitizer } from './sanitize.ts'

const defaults: OscOptions = { hostname: 'here', titleLength: limits.terminalTitle }
const open = (options = defaults) => new Sanitizer(options, limits.terminalSequence)

/** The parts of all chunks, with adjacent texts joined. */
function meaning(chunks: Iterable<string>, options?: OscOptions): readonly OutputPart[] {
  const sanitizer = open(options)
  const all: OutputPart[] = []
  for (const chunk of chunks)
    for (const part of sanitizer.push(chunk)) {
      const last = all.at(-1)
      if ('data' in part && last && 'data' in last) all[all.length - 1] = { data: last.data + part.data }
      else all.push(part)
    }
  return all
}

function* decoded(chunks: Iterable<Buffer>): Iterable<string> {
  const decoder = new StringDecoder('utf8')
  for (const chunk of chunks) yield decoder.write(chunk)
  yield decoder.end()
}

const shown = (parts: readonly OutputPart[]) =>
  parts.map((part) => ('data' in part ? part.data : '')).join('')
const others = (parts: readonly OutputPart[]) => parts.filter((part) => !('data' in part))

test('[S-32] the corpus has more than 250 cases', () => expect(escapeCases.length).toBeGreaterThan(250))

test.each(escapeCases)('[S-32] [S-32.1] [S-32.2] [S-32.3] $name', (escape: EscapeCase) => {
  const parts = meaning([escape.in])
  expect(shown(parts)).toBe(escape.out ?? escape.in)
  expect(others(parts)).toEqual(escape.also ?? [])
})

test.each(escapeCases)('[S-32.4] $name: split at each byte, and into single bytes', ({ in: text }) => {
  const bytes = Buffer.from(`<${text}>`)
  const whole = meaning(decoded([bytes]))
  for (let at = 0; at <= bytes.length; at++)
    expect(meaning(decoded([bytes.subarray(0, at), bytes.subarray(at)])), `cut at ${at}`).toEqual(whole)
  expect(meaning(decoded([...bytes].map((byte) => Buffer.of(byte))))).toEqual(whole)
})

test('[S-32] sanitized output is not changed by a second pass', () => {
  for (const escape of escapeCases) {
    const once = shown(meaning([escape.in]))
    expect(meaning([once]), escape.name).toEqual(once ? [{ data: once }] : [])
  }
})

const fragment = fc.oneof(
  fc.constantFrom(...escapeCases.map((escape) => escape.in)),
  fc.string({
    unit: fc.constantFrom(
      ...'\x1b\x1b[]P_;?0123456789mhcntq\x07\\\x18\x05\x7f\u009b\u009c\u009d ab'.split(''),
    ),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 5 }),
)

test('[S-32.4] the result does not depend on the chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fragment, { maxLength: 12 }),
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

test('[S-32] sanitized output contains no queries, also after a second pass', () => {
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 20 }), (parts) => {
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

test('[S-32] invalid UTF-8 gives the same result in any chunks', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), (given, at) => {
      const bytes = Buffer.from(given)
      expect(meaning(decoded([bytes.subarray(0, at), bytes.subarray(at)]))).toEqual(meaning(decoded([bytes])))
    }),
    { numRuns: 2000 },
  )
})

describe('[M6] [M6.1] with a nonce, marks without it are ignored', () => {
  const nonce = 'n0nce'
  const options = { ...defaults, nonce }
  test.each([
    ['A', { at: 'prompt' }],
    ['C', { at: 'executed' }],
    ['D;1', { at: 'finished', exitCode: 1 }],
    ['D', { at: 'finished' }],
    ['E;rm -rf', { at: 'line', line: 'rm -rf' }],
  ])('633;%s', (text, mark) => {
    const said = (...fields: readonly string[]) => meaning([`\x1b]633;${fields.join(';')}\x07`], options)
    expect(said(text, nonce)).toEqual([{ mark }])
    for (const wrong of [[text], [text, ''], [text, 'other'], [text, nonce, ''], [nonce, text], [nonce]])
      expect(said(...wrong)).toEqual([])
  })

  test('so are directories', () => {
    const here = { cwd: 'file:///x' }
    expect(meaning([`\x1b]633;P;Cwd=/x;${nonce}\x07`], options)).toEqual([here])
    for (const text of ['633;P;Cwd=/x', '7;file:///x', '1337;CurrentDir=/x', '133;A', '133;C;cmdline_url=x'])
      expect(meaning([`\x1b]${text}\x07`], options), text).toEqual([])
  })
})

describe('[S-32] bounds', () => {
  const { terminalSequence, terminalTitle } = limits
  const titled = (length: number) => `\x1b]0;${'t'.repeat(length - 2)}\x07x`

  test('[S-57 terminalSequence] at 65,536: a sequence is parsed', () => {
    const parts = meaning([titled(terminalSequence)])
    expect(parts).toEqual([{ title: 't'.repeat(terminalTitle) }, { data: 'x' }])
    expect(shown(meaning([`\x1b[${'1'.repeat(5)}${';'.repeat(terminalSequence - 5)}m`]))).toHaveLength(
      terminalSequence + 3,
    )
  })

  test('[S-57 terminalSequence] past 65,536: a sequence is removed, up to its end', () => {
    for (const chunks of [[titled(terminalSequence + 1)], titled(terminalSequence + 1)])
      expect(meaning(chunks)).toEqual([{ data: 'x' }])
    expect(meaning([`\x1b[${';'.repeat(terminalSequence + 1)}mx`])).toEqual([{ data: 'x' }])
    expect(meaning([`\x1b${' '.repeat(terminalSequence + 1)}Fx`])).toEqual([{ data: 'x' }])
  })

  test('[S-57 terminalTitle] at 256: a title is complete', () =>
    expect(meaning([`\x1b]2;${'t'.repeat(256)}\x07`])).toEqual([{ title: 't'.repeat(256) }]))
  test('[S-57 terminalTitle] past 256: a title is shortened, without splitting a character', () => {
    expect(meaning([`\x1b]2;${'t'.repeat(257)}\x07`])).toEqual([{ title: 't'.repeat(256) }])
    expect(meaning([`\x1b]2;${'t'.repeat(255)}😀\x07`])).toEqual([{ title: 't'.repeat(255) }])
  })

  test('[F-40] endless strings and endless output without newlines do not use memory', () => {
    const sanitizer = open()
    const frame = `\x1b[H\x1b[2J${'\x1b[38;5;1m█\x1b[0m'.repeat(500)}`
    const before = memory()
    for (let i = 0; i < 10_000; i++) sanitizer.push(frame)
    sanitizer.push('\x1b]0;')
    for (let i = 0; i < 20_000; i++) sanitizer.push('never ends '.repeat(100))
    sanitizer.push('\x1b_')
    for (let i = 0; i < 20_000; i++) sanitizer.push('never ends '.repeat(100))
    expect(memory() - before).toBeLessThan(4e6)
    expect(sanitizer.push('\x1b\\here')).toEqual([{ data: 'here' }])
  })
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const memory = () => {
  collect()
  return process.memoryUsage().heapUsed
}
