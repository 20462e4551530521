import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** An MCP server with one tool, for agents that are given such: how a config names it, and what it can do. */
export const sums = {
  server: 'sums',
  tool: 'multiply',
  config: {
    sums: {
      command: process.execPath,
      args: [fileURLToPath(import.meta.url)],
      env: { SUMS_KEY: 'let me in' },
    },
  },
}

interface Asked {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly arguments?: Readonly<Record<string, unknown>>
  }
}

const number = { type: 'number' }
const tool = {
  name: sums.tool,
  description: 'Multiplies two numbers.',
  inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
}

const answers: Readonly<Record<string, (params: NonNullable<Asked['params']>) => object>> = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: sums.server, version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { a, b } = {} }) => {
    // It works only for who was given its key. A bare number would be JSON, which some take for an object.
    const isKnown = process.env['SUMS_KEY'] === 'let me in'
    const text = isKnown ? `That makes ${Number(a) * Number(b)}.` : 'The key is missing.'
    return { content: [{ type: 'text', text }] }
  },
}

function answer({ id, method = '', params = {} }: Asked): object | undefined {
  if (id === undefined) return undefined
  const result = answers[method]?.(params)
  const error = { code: -32_601, message: `there is no ${method}` }
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error }) }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const said = answer(JSON.parse(line) as Asked)
    if (said) process.stdout.write(`${JSON.stringify(said)}\n`)
  })
