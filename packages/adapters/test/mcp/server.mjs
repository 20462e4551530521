// An MCP server that uses the library for the MCP version of 2026-07-28. It serves this version and older ones; with
// MCP_ERA=legacy it serves only the older ones. Each of its tools does one thing that tests look at.
import { Server, acceptedContent, inputRequired } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

const text = (value) => ({ content: [{ type: 'text', text: String(value) }] })
const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'Your name' },
    size: { type: 'string', enum: ['small', 'large'] },
    count: { type: 'integer', default: 3 },
  },
  required: ['name'],
}
let added = false

const tools = {
  echo: ({ text: said }) => text(said),
  pid: () => text(process.pid),
  variable: ({ name }) => text(process.env[name] ?? 'unset'),
  folder: () => text(process.cwd()),
  ask: (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.['form']
    if (!answer)
      return inputRequired({
        inputRequests: { form: inputRequired.elicit({ message: 'Who?', requestedSchema: form }) },
      })
    const content = acceptedContent(mcpReq.inputResponses, 'form')
    return text(content ? JSON.stringify(content) : answer.action)
  },
  'ask-on': () =>
    inputRequired({
      inputRequests: { form: inputRequired.elicit({ message: 'Again?', requestedSchema: form }) },
    }),
  'ask-odd': () =>
    inputRequired({
      inputRequests: {
        form: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: 'x',
            requestedSchema: {
              type: 'object',
              properties: { a: { type: 'string', description: 'd'.repeat(100_000) } },
            },
          },
        },
      },
    }),
  sample: () =>
    inputRequired({ inputRequests: { s: inputRequired.createMessage({ messages: [], maxTokens: 1 }) } }),
  steps: async ({ count }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (let progress = 1; progress <= count; progress++)
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: count, message: `step ${progress}` },
      })
    return text('done')
  },
  wait: (_, { mcpReq }) =>
    new Promise((resolve) => {
      console.error('waiting')
      mcpReq.signal.addEventListener('abort', () => {
        console.error('cancelled')
        resolve(text('cancelled'))
      })
    }),
  fail: () => ({ ...text('the disk is full'), isError: true }),
  kinds: () => ({
    content: [
      { type: 'text', text: 'a text' },
      { type: 'image', data: 'aW1hZ2U=', mimeType: 'image/png' },
      { type: 'audio', data: 'YXVkaW8=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///notes.txt', name: 'notes' },
      { type: 'resource', resource: { uri: 'file:///a.txt', text: 'embedded' } },
      { type: 'resource', resource: { uri: 'file:///b.bin', blob: 'YmxvYg==', mimeType: 'application/zip' } },
    ],
    structuredContent: { answer: 42 },
  }),
  long: ({ length }) => text('x'.repeat(length)),
  say: ({ text: said }) => (console.error(said), text('said')),
  grow: async (_, { server }) => {
    added = true
    await server.sendToolListChanged()
    return text('grown')
  },
  crash: () => process.exit(3),
}

function newServer() {
  const server = new Server(
    { name: 'scripted', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  )
  server.setRequestHandler('tools/list', ({ params }) => {
    const names = [...Object.keys(tools), ...(added ? ['added'] : [])]
    // Two pages.
    const page = params?.cursor === 'more' ? names.slice(3) : names.slice(0, 3)
    const listed = page.map((name) => ({
      name,
      description: `does ${name}`,
      inputSchema: { type: 'object' },
    }))
    return { tools: listed, ...(params?.cursor === undefined && { nextCursor: 'more' }) }
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    tools[params.name](params.arguments ?? {}, { mcpReq, server }),
  )
  return server
}

if (process.env.MCP_ERA === 'legacy') await newServer().connect(new StdioServerTransport())
else serveStdio(newServer)
