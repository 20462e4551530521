import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { threadEncoder } from './encoder.ts'

const encoder = threadEncoder()
const encoded = async (content: string | Uint8Array, form = {}) => {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return JSON.parse(Buffer.from(await encoder.encode(bytes, form)).toString()) as unknown
}

test('[Q1] content is encoded in another thread as the host encodes it', async () => {
  const text = '\uFEFFa "quoted" line\n€'
  expect(await encoded(text, { contentType: 'text/x; q="é"' })).toEqual({
    data: text,
    encoding: 'utf-8',
    contentType: 'text/x; q="é"',
  })
  expect(await encoded('hello\n', { asked: 'base64' })).toEqual({ data: 'aGVsbG8K', encoding: 'base64' })
  const png = new Uint8Array([0x89, 0x50, 0x00, 0xff])
  const typed = { data: 'iVAA/w==', encoding: 'base64', contentType: 'image/é' }
  expect(await encoded(png, { asked: 'utf-8', contentType: 'image/é' })).toEqual(typed)
  expect(await encoded('a\0b')).toEqual({ data: 'YQBi', encoding: 'base64' })
  expect(await encoded('a\0b', { asked: 'utf-8' })).toEqual({ data: 'a\0b', encoding: 'utf-8' })
  expect(await encoded('')).toEqual({ data: '', encoding: 'utf-8' })
})

test('[Q12] [Q12.4] large contents are encoded at once, and buffers that others share are left alone', async () => {
  const shared = Buffer.from('shared memory')
  const large = randomBytes(1_000_000)
  const expected = large.toString('base64')
  const both = await Promise.all([encoded(large), encoded(shared)])
  expect(both).toEqual([
    { data: expected, encoding: 'base64' },
    { data: 'shared memory', encoding: 'utf-8' },
  ])
  expect(shared.toString()).toBe('shared memory')
})
