import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** Verbs that make the agent send more than the host should buffer. */
export const floods = {
  /** Sends `count` message chunks. Records how many are written, because writing blocks while the host does not read. */
  flood: async (count, { raw, sessionId, folder }) => {
    const content = { type: 'text', text: 'word ' }
    const update = { sessionUpdate: 'agent_message_chunk', content, messageId: 'flood' }
    for (let i = 1; i <= Number(count); i++) {
      await raw({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
      if (i % 250 === 0) writeFileSync(join(folder, 'flood'), String(i))
    }
  },
  /** Sends `count` unknown requests, and never reads the error responses. */
  pester: async (count, { raw, folder }) => {
    process.stdin.pause()
    for (let i = 1; i <= Number(count); i++) {
      await raw({ jsonrpc: '2.0', id: i, method: `no/${'x'.repeat(200)}` })
      if (i % 1000 === 0) writeFileSync(join(folder, 'pestered'), String(i))
    }
    await new Promise(() => {})
  },
  /** Sends `count` completed tool calls. Each has a diff. */
  'flood-diffs': async (count, { raw, sessionId, folder }) => {
    for (let i = 1; i <= Number(count); i++) {
      const content = [{ type: 'diff', path: `/f${i}`, oldText: null, newText: 'x'.repeat(200) }]
      const call = { toolCallId: `f${i}`, title: 'f', kind: 'edit', status: 'completed', content }
      const update = { sessionUpdate: 'tool_call', ...call }
      await raw({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
      if (i % 100 === 0) writeFileSync(join(folder, 'flood'), String(i))
    }
  },
}
