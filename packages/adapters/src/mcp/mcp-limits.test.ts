import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { manualTimers } from '../../test/acp.ts'
import { callWith } from '../../test/mcp/room.ts'
import { RunningCall } from './call.ts'
import { answerForm } from './questions.ts'
import { resultOf } from './result.ts'
import { listTools, toolOf } from './tools.ts'

const tool = (more: object = {}) => ({ name: 'a', inputSchema: { type: 'object' }, ...more })
const listed = (count: number) => {
  const tools = Array.from({ length: count }, (_, i) => tool({ name: `t${i}` }))
  return listTools(() => Promise.resolve({ tools }), limits)
}

test('[F7] [S-57 mcpTools] at 512 tools all are listed', async () =>
  expect((await listed(512)).size).toBe(512))

test('[F7] [S-57 mcpTools] past 512 tools the others are left out', async () =>
  expect((await listed(513)).size).toBe(512))

test('[F7] [S-57 mcpNameLength] at 128 characters a tool is listed', () =>
  expect(toolOf(tool({ name: 'n'.repeat(128) }), limits)?.definition.name).toHaveLength(128))

test('[F7] [S-57 mcpNameLength] past 128 characters it is left out', () =>
  expect(toolOf(tool({ name: 'n'.repeat(129) }), limits)).toBeUndefined())

test('[F7] [S-57 mcpDescriptionLength] at 8,192 characters a description is whole', () =>
  expect(toolOf(tool({ description: 'd'.repeat(8192) }), limits)?.definition.description).toHaveLength(8192))

test('[F7] [S-57 mcpDescriptionLength] past 8,192 characters the rest is cut off', () =>
  expect(toolOf(tool({ description: 'd'.repeat(9000) }), limits)?.definition.description).toHaveLength(8192))

const schemaOf = (length: number) => ({
  type: 'object',
  d: 'x'.repeat(length - '{"type":"object","d":""}'.length),
})

test('[F7] [S-57 mcpSchemaLength] at 65,536 characters a schema is listed', () => {
  expect(JSON.stringify(schemaOf(65_536))).toHaveLength(65_536)
  expect(toolOf(tool({ inputSchema: schemaOf(65_536) }), limits)).toBeDefined()
})

test('[F7] [S-57 mcpSchemaLength] past 65,536 characters the tool is left out, and a form is refused', async () => {
  expect(toolOf(tool({ inputSchema: schemaOf(65_537) }), limits)).toBeUndefined()
  expect(toolOf(tool({ outputSchema: schemaOf(65_537) }), limits)).toBeUndefined()
  const call = callWith()
  const answer = await answerForm({ requestedSchema: schemaOf(65_537) }, call.elicit, limits)
  expect(answer).toEqual({ action: 'cancel' })
  expect(call.questions).toEqual([])
})

const nested = (levels: number): object =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)

test('[F7] [S-57 mcpSchemaDepth] at 32 levels a schema is listed', () =>
  expect(toolOf(tool({ inputSchema: nested(32) }), limits)).toBeDefined())

test('[F7] [S-57 mcpSchemaDepth] past 32 levels it is left out, however deep it is', () => {
  for (const levels of [33, 100_000])
    expect(toolOf(tool({ inputSchema: nested(levels) }), limits)).toBeUndefined()
  const { content, structuredContent } = resultOf({ structuredContent: { ...nested(33) } }, limits)
  expect(structuredContent).toBeUndefined()
  expect(content).toHaveLength(1)
})

const text = (length: number) => ({ type: 'text' as const, text: 'x'.repeat(length) })

test('[F9] [S-57 mcpResultLength] at 4,194,304 characters a result is whole', () => {
  const { content } = resultOf({ content: [text(4_000_000), text(194_304)] }, limits)
  expect(content).toEqual([text(4_000_000), text(194_304)])
})

test('[F9] [S-57 mcpResultLength] past 4,194,304 characters the rest is left out, with a note', () => {
  const image = { type: 'image' as const, data: 'i'.repeat(4_194_304), mimeType: 'image/png' }
  const { content = [] } = resultOf(
    { content: [text(1), image, text(4_194_304)], structuredContent: { a: 1 } },
    limits,
  )
  const [first, cut, note] = content
  expect(first).toEqual(text(1))
  expect(cut).toEqual(text(4_194_303))
  expect(note).toMatchObject({ text: expect.stringContaining('left out') })
  expect(content).toHaveLength(3)
})

const running = () => {
  const { later, pass } = manualTimers()
  const call = callWith()
  return { call, pass, run: new RunningCall(call, later, limits) }
}

test('[F8.1] [F8] [S-57 mcpProgressMs] at 100 ms after a report the newest progress is reported', () => {
  const { call, pass, run } = running()
  for (const progress of [1, 2, 3]) run.reportProgress({ progress, total: 4 })
  expect(call.reported).toEqual([{ fraction: 0.25 }])
  pass(99)
  expect(call.reported).toHaveLength(1)
  pass(100)
  expect(call.reported).toEqual([{ fraction: 0.25 }, { fraction: 0.75 }])
})

test('[F8.1] [F8] [S-57 mcpProgressMs] past 100 ms the next progress is reported at once, and none after the end', () => {
  const { call, pass, run } = running()
  run.reportProgress({ progress: 1 })
  pass(100)
  run.reportProgress({ progress: 9, total: 3, message: 'a\u202eb' })
  expect(call.reported).toEqual([{}, { fraction: 1, message: 'ab' }])
  run.reportProgress({ progress: 10 })
  run.end()
  pass(100)
  expect(call.reported).toHaveLength(2)
})

test.each([
  { properties: { a: 'x' } },
  { properties: [] },
  { properties: { a: { enum: [1] } } },
  { properties: { a: { oneOf: ['x'] } } },
  { properties: { a: { title: {} } } },
  { properties: { a: { items: { enum: 'x' } } } },
  { required: 'a' },
  'x',
  undefined,
])('[F10.2] [F10] the odd form %j is cancelled without a question', async (requestedSchema) => {
  const call = callWith()
  expect(await answerForm({ requestedSchema }, call.elicit, limits)).toEqual({ action: 'cancel' })
  expect(call.questions).toEqual([])
})

test('[F10.2] [F10] a form has no hidden characters', async () => {
  const call = callWith({
    answers: {
      response: 'accept',
      answers: { a: { state: 'submitted', value: { kind: 'text', value: 'x' } } },
    },
  })
  const requestedSchema = { properties: { 'a\u202e': { type: 'string', title: '\u001b[1mT\u200b' } } }
  const answer = await answerForm({ message: 'm\u2066', requestedSchema }, call.elicit, limits)
  expect(call.questions).toEqual([
    { message: 'm', questions: [{ id: 'a', kind: 'text', message: 'T', title: 'T', required: false }] },
  ])
  expect(answer).toEqual({ action: 'accept', content: { a: 'x' } })
  expect(await answerForm({ mode: 'url', url: 'https://x' }, call.elicit, limits)).toEqual({
    action: 'cancel',
  })
})
