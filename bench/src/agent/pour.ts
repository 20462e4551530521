import type { Agent } from '@atrium/host/ports/agent'

/** The most characters of one delta. A delta holds only whole lines, so it is slightly shorter. */
const piece = 4096

/** An agent that takes the user's message as a number, and answers with about that many bytes of text. */
export const pouringAgent: Agent = {
  info: { provider: 'pour', displayName: 'Pour', description: '', models: [] },
  resumes: false,
  async *run({ state }) {
    const bytes = Number(state.activeTurn?.message.text)
    yield { type: 'chat/responsePart', part: { kind: 'markdown', id: 'text', content: '' } }
    for (let written = 0; written < bytes; written += piece) {
      const line = `${written} `.padEnd(64, 'words of a long answer ')
      yield { type: 'chat/delta', partId: 'text', content: `${line}\n`.repeat(piece / 65) }
    }
  },
}
