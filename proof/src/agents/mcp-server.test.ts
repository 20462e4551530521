import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { sums } from './mcp-server.ts'

test.each([
  [{ SUMS_KEY: 'let me in' }, 'That makes 42.'],
  [{}, 'The key is missing.'],
])('[B42] the test MCP server answers, started with %j', async (env, text) => {
  const file = new URL('../../dist/agents/mcp-server.js', import.meta.url).pathname
  const server = spawn(process.execPath, [file], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params = {}) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return JSON.parse((await lines.next()).value ?? '') as object
  }
  const opened = { protocolVersion: '2025-11-25', serverInfo: { name: sums.server } }
  expect(await ask(1, 'initialize', { protocolVersion: '2025-11-25' })).toMatchObject({
    id: 1,
    result: opened,
  })
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  expect(await ask(2, 'tools/list')).toMatchObject({ result: { tools: [{ name: sums.tool }] } })
  const called = { name: sums.tool, arguments: { a: 6, b: 7 } }
  expect(await ask(3, 'tools/call', called)).toMatchObject({ result: { content: [{ text }] } })
  expect(await ask(4, 'prompts/list')).toMatchObject({ id: 4, error: { code: -32_601 } })
  server.stdin.end()
  expect(await once(server, 'exit')).toEqual([0, null])
})
