import { once } from 'node:events'
import { createInterface } from 'node:readline'

// A minimal ACP agent. The prompt is a number N. The answer is N chunks, sent as fast as the pipe takes them.
const send = async (message: object) => {
  if (!process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`))
    await once(process.stdout, 'drain')
}

let sessions = 0
const answers: { readonly [method: string]: (params: Params) => Promise<object> } = {
  initialize: async () => ({ protocolVersion: 1, agentCapabilities: {} }),
  'session/new': async () => ({ sessionId: `s${++sessions}` }),
  'session/prompt': async ({ sessionId, prompt }) => {
    const count = Number(prompt?.[0]?.text)
    for (let i = 0; i < count; i++) {
      const content = { type: 'text', text: `word ${i} ` }
      const update = { sessionUpdate: 'agent_message_chunk', content }
      await send({ method: 'session/update', params: { sessionId, update } })
    }
    return { stopReason: 'end_turn' }
  },
}

interface Params {
  readonly sessionId?: string
  readonly prompt?: readonly { readonly text: string }[]
}

for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params: Params }
  if (id !== undefined) await send({ id, result: (await answers[method]?.(params)) ?? {} })
}
