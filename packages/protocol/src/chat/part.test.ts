import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reduceChat } from './reducer.ts'
import type { ChatState, MarkdownPart } from './state.ts'

const startedAt = '2026-01-01T00:00:00Z'

function chatWith(ids: readonly string[]): ChatState {
  const responseParts = ids.map((id): MarkdownPart => ({ kind: 'markdown', id, content: '' }))
  const activeTurn = { id: 't', startedAt, message: { text: '', origin: { kind: 'user' } }, responseParts }
  return { resource: 'c', title: '', status: 8, modifiedAt: startedAt, turns: [], activeTurn }
}

const textsOf = (state: ChatState) =>
  state.activeTurn?.responseParts.map((part) => (part.kind === 'markdown' ? part.content : '')) ?? []

test('[P2] the cache of part indexes never changes a result: twenty chats, forked and mixed, with double ids', () => {
  const ids = fc.array(fc.constantFrom<string>('a', 'b', 'c'), { minLength: 1, maxLength: 5 })
  const step = fc.record({
    from: fc.nat(),
    partId: fc.constantFrom<string>('a', 'b', 'c', 'd'),
    content: fc.constantFrom('x', 'y'),
  })
  fc.assert(
    fc.property(
      fc.array(ids, { minLength: 20, maxLength: 20 }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      (chats, steps) => {
        // Each step continues any earlier state, so the reducer also gets lists that were already replaced.
        const states = chats.map((parts) => ({ parts, state: chatWith(parts), texts: parts.map(() => '') }))
        for (const { from, partId, content } of steps) {
          const before = states[from % states.length]
          if (!before) return
          const state = reduceChat(before.state, { type: 'chat/delta', turnId: 't', partId, content })
          const first = before.parts.indexOf(partId)
          const texts = before.texts.map((text, i) => (i === first ? text + content : text))
          expect(textsOf(state)).toEqual(texts)
          states.push({ ...before, state, texts })
        }
      },
    ),
  )
})
