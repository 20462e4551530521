import { expect, test } from 'vitest'
import type { Message, Tool } from './conversation.ts'
import { answer, remaining } from './script.ts'

const script = '[[run:one]][[say:between]][[run:two]][[say:end]]'
const asked: Message = { by: 'user', text: script }
const result = (call: string, text = 'ok') => ({ by: 'tool', call, text }) as const
const words = (...history: Message[]) => remaining({ tools: [], history })?.map(({ text }) => text)

test('[B40] the rest of a script starts after the answered calls', () => {
  expect(words(asked)).toEqual(['one', 'between', 'two', 'end'])
  expect(words(asked, result('a'))).toEqual(['between', 'two', 'end'])
  expect(words(asked, result('a'), result('b'))).toEqual(['end'])
  expect(words(asked, result('a'), result('b'), result('c'))).toEqual([])
  expect(words({ by: 'user', text: 'hello' })).toBeUndefined()
})

test('[B40] a later message without a script continues it, one with a script replaces it', () => {
  const goOn: Message = { by: 'user', text: 'Go on.' }
  expect(words(asked, result('a'), goOn)).toEqual(['between', 'two', 'end'])
  expect(words(asked, result('a'), { by: 'user', text: '[[say:new]]' })).toEqual(['new'])
})

test('[B40] a repeated result counts once', () => {
  expect(words(asked, result('a'), result('a'))).toEqual(['between', 'two', 'end'])
})

test('[B40] a call that was not carried out is skipped, until the user says to go on', () => {
  const denied = result('a', 'The tool use was rejected.')
  const reminder: Message = { by: 'user', text: '[Request interrupted]' }
  expect(words(asked, denied, reminder)).toEqual(['between', 'two', 'end'])
  const goOn: Message = { by: 'user', text: 'Allowed meanwhile.' }
  expect(words(asked, denied, reminder, goOn)).toEqual(['one', 'between', 'two', 'end'])
  expect(words(asked, result('a', 'aborted'), goOn)).toEqual(['one', 'between', 'two', 'end'])
  const timed = result('a', 'Wall time: 0.0 seconds\naborted by user')
  expect(words(asked, timed, goOn)).toEqual(['one', 'between', 'two', 'end'])
  const dated: Message = { by: 'user', text: '<now>2026</now>\n\nAllowed meanwhile.' }
  expect(words(asked, denied, dated)).toEqual(['one', 'between', 'two', 'end'])
  expect(words(asked, denied, { by: 'user', text: '<now>2026</now>' })).toEqual(['between', 'two', 'end'])
})

test('[B40] calls in a transcript before the script are not repeated', () => {
  const before = `What was said:\n\n# User\n\n${script}\n\n# Agent\n\n[Run: one (done)]\n\n[Error: stopped]`
  expect(words({ by: 'user', text: before }, asked)).toEqual(['between', 'two', 'end'])
  const whole = `${before}\n\nEnd of what was said before.`
  expect(words({ by: 'user', text: whole }, asked)).toEqual(['between', 'two', 'end'])
  expect(words({ by: 'user', text: '[Run: one (done)]' }, asked)).toEqual(['one', 'between', 'two', 'end'])
})

test('[B40] an agent may join the transcript, the script and words of its own into one message', () => {
  const before = `[[run:zero]]\n\n# User\n\n${script}\n\n# Agent\n\n[Run: one (done)]\n\n[Run: one (done)]`
  const text = `<task>${before}\n\nEnd of what was said before.\n\n${script}</task> <now>2026</now>`
  expect(words({ by: 'user', text })).toEqual(['between', 'two', 'end'])
})

test('[B40] an agent with a tool for the last text gets this text by the tool alone', async () => {
  const tools = [
    { name: 'attempt_completion', schema: { properties: { result: { type: 'string' } } } },
    { name: 'bash' },
  ]
  const history = [{ by: 'user', text: '[[say:before]][[run:one]][[think:so]][[say:end]]' } as const]
  const pieces = async (more: readonly Message[]) => {
    const all: string[] = []
    const conversation = { tools, history: [...history, ...more] }
    for await (const piece of answer(conversation, new AbortController().signal))
      all.push(piece.is === 'call' ? `${piece.call.tool.name} ${piece.call.input}` : piece.text)
    return all
  }
  expect(await pieces([])).toEqual(['before', 'bash {}'])
  expect(await pieces([result('a')])).toEqual(['so', 'attempt_completion {"result":"end"}'])
})

test('[B40.1] a tool that is not shown is searched once, and the search counts as no step', async () => {
  const search = { name: 'ToolSearch', schema: { properties: { query: { type: 'string' } } } }
  const tool = { name: 'mcp__sums__multiply' }
  const step: Message = { by: 'user', text: '[[tool:multiply|{"a":2}]][[say:end]]' }
  const first = async (tools: readonly Tool[], ...history: Message[]) => {
    for await (const piece of answer({ tools, history }, new AbortController().signal)) return piece
    return undefined
  }
  const searching = await first([search], step)
  const call = searching?.is === 'call' ? searching.call : undefined
  expect(call).toMatchObject({ tool: search, input: '{"query":"multiply"}' })
  const found = result(call?.id ?? '', '<functions>')
  expect(await first([search, tool], step, found)).toMatchObject({ call: { tool, input: '{"a":2}' } })
  expect(await first([search, tool], step, found, result('a'))).toMatchObject({ text: 'end' })
  const none = 'there is no such tool among ToolSearch'
  expect(await first([search], step, found)).toMatchObject({ text: none })
  expect(await first([search], step, found, { by: 'user', text: '<now>2026</now>' })).toMatchObject({
    text: none,
  })
  expect(await first([search], step, found, step)).toMatchObject({ call: { tool: search } })
  const caller = { name: 'tool_call', schema: { properties: { name: {}, arguments: {} } } }
  const named = result(found.call, '{"name":"mcp__sums__multiply"}')
  const input = '{"name":"mcp__sums__multiply","arguments":{"a":2}}'
  expect(await first([search, caller], step, named)).toMatchObject({ call: { tool: caller, input } })
  expect(await first([search, caller], step, named, result('a'))).toMatchObject({ text: 'end' })
})

test('[B40] a list of command lines gets the whole line, and a list of words the words that run it', async () => {
  const type = 'array'
  const input = async (key: string) => {
    const tools = [{ name: 'run_commands', schema: { properties: { [key]: { type } } } }]
    const history = [{ by: 'user', text: '[[run:ls -l]]' } as const]
    for await (const piece of answer({ tools, history }, new AbortController().signal))
      return piece.is === 'call' ? piece.call.input : undefined
    return undefined
  }
  expect(await input('commands')).toBe('{"commands":["ls -l"]}')
  expect(await input('command')).toBe('{"command":["bash","-lc","ls -l"]}')
})
