import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A test MCP server: its name, the name of its only tool, and its entry in the host's config. */
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

interface Request {
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

const answers: Readonly<Record<string, (params: NonNullable<Request['params']>) => object>> = {
  initialize: ({ protocolVersion = '2025-06-18' }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: sums.server, version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { a, b } = {} }) => {
    // The tool works only with the key from the config. The result is a sentence, because some agents take a bare
    // number, which is valid JSON, for an object.
    const isKnown = process.env['SUMS_KEY'] === 'let me in'
    const text = isKnown ? `That makes ${Number(a) * Number(b)}.` : 'The key is missing.'
    return { content: [{ type: 'text', text }] }
  },
}

function answer({ id, method = '', params = {} }: Request): object | undefined {
  if (id === undefined) return undefined
  const result = answers[method]?.(params)
  const error = { code: -32_601, message: `unknown method: ${method}` }
  return { jsonrpc: '2.0', id, ...(result ? { result } : { error }) }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  createInterface({ input: process.stdin }).on('line', (line) => {
    const response = answer(JSON.parse(line) as Request)
    if (response) process.stdout.write(`${JSON.stringify(response)}\n`)
  })
