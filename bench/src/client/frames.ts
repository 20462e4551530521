import { random } from '../measure.ts'

const words = 'the agent reads a file and writes another one while somebody watches it work'.split(' ')

/** Frames like those of a busy chat. Six in ten are text deltas. The same seed gives the same frames. */
export function frames(count: number, seed: number): readonly string[] {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T
  const text = (least: number, most: number) =>
    Array.from({ length: least + Math.floor(next() * (most - least)) }, () => pick(words)).join(' ')
  const turnId = 'request_4f6c1d1e-9a4b-4e0e-8d0b-2f6f0b7a9c11'
  const call = () => ({ turnId, toolCallId: `call_${Math.floor(next() * 1e9).toString(36)}` })
  const others: readonly (() => object)[] = [
    () => ({ type: 'chat/reasoning', turnId, partId: 'r1', content: text(2, 12) }),
    () => ({ type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: 'm2', content: '' } }),
    () => ({ type: 'chat/toolCallStart', ...call(), toolName: 'read_file', displayName: 'Read file' }),
    () => ({ type: 'chat/toolCallDelta', ...call(), content: text(1, 4) }),
    () => ({
      type: 'chat/toolCallReady',
      ...call(),
      invocationMessage: { markdown: text(3, 8) },
      toolInput: JSON.stringify({ path: '/src/a.ts' }),
      confirmed: 'not-needed',
    }),
    () => ({
      type: 'chat/toolCallComplete',
      ...call(),
      result: {
        success: true,
        pastTenseMessage: text(2, 6),
        content: [{ type: 'text', text: text(10, 60) }],
      },
    }),
    () => ({ type: 'chat/usage', turnId, usage: { inputTokens: 1200, outputTokens: 80, model: 'large' } }),
    () => ({ type: 'session/activityChanged', activity: text(1, 4) }),
    () => ({
      type: 'session/chatUpdated',
      chat: 'ahp-chat:/1',
      changes: { status: 8, modifiedAt: '2026-01-01T00:00:00.000Z' },
    }),
    () => ({ type: 'terminal/data', data: `${text(5, 30)}\r\n` }),
  ]
  return Array.from({ length: count }, (_, i) => {
    const delta = { type: 'chat/delta', turnId, partId: 'm1', content: `${text(1, 6)} ` }
    const action = next() < 0.6 ? delta : pick(others)()
    const params = {
      channel: 'ahp-chat:/0b8d4a52-1c1a-4f58-9f0e-6c6f4b0f7f35',
      action,
      serverSeq: 1.7e15 + i,
    }
    return JSON.stringify({ jsonrpc: '2.0', method: 'action', params })
  })
}
