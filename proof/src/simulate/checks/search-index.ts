import type { MemorySearch } from '@atrium/adapters/search/memory'
import type { SearchIndex } from '@atrium/host/ports/search-index'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { RunContext } from './context.ts'

/**
 * Returns the search index as one host run uses it. After the end of the run, its calls do not reach the index and
 * are never answered.
 */
export function indexOf(index: MemorySearch, isAlive: () => boolean): SearchIndex {
  const never = new Promise<never>(() => {})
  const guarded = async <T>(work: () => Promise<T>) => {
    if (!isAlive()) return never
    const result = await work()
    return isAlive() ? result : never
  }
  return {
    begin: (...given) => guarded(() => index.begin(...given)),
    update: (change) => guarded(() => index.update(change)),
    find: (query) => guarded(() => index.find(query)),
    clear: () => guarded(() => index.clear()),
    close: async () => {},
  }
}

/** Checks Q26, Q28: once it is fed, the index has the texts of all finished turns of used sessions, and no others. */
export function checkSearchIndex(context: RunContext, index: MemorySearch): void {
  const { model, invariants } = context
  const expected: string[] = []
  // Only a text with a word can be found.
  const add = (place: string, text: string) =>
    /[\p{L}\p{N}]/u.test(text) ? void expected.push(`${place}: ${text}`) : undefined
  for (const [uri, { chats, title }] of invariants.sessions()) {
    if (!invariants.usedSessions.has(uri)) continue
    add(uri, title)
    for (const { resource, title: named } of chats) {
      if (named !== title) add(resource, named)
      for (const turn of model.chat(resource)?.turns ?? []) {
        add(`${resource} ${turn.id}`, turn.message.text)
        add(`${resource} ${turn.id}`, answerOf(turn))
      }
    }
  }
  const texts = index.texts.filter(({ who }) => who !== 'tool')
  const actual = texts.map(
    ({ session, chat = session, turnId, text }) =>
      `${turnId === undefined ? chat : `${chat} ${turnId}`}: ${text}`,
  )
  const missing = expected.find((text) => !actual.includes(text))
  if (missing !== undefined) context.fail('Q26', `the index lacks ${missing}`)
  const left = actual.find((text) => !expected.includes(text))
  if (left !== undefined) context.fail('Q28', `the index still has ${left}`)
  if (actual.length !== expected.length) context.fail('Q28', 'the index has a text twice')
}

function answerOf({ responseParts }: ChatState['turns'][number]): string {
  const texts = responseParts.map((part) => {
    if (part.kind === 'markdown') return part.content
    if (part.kind === 'systemNotification') return typeof part.content === 'string' ? part.content : ''
    if (part.kind === 'inputRequest') return part.request.message ?? ''
    return part.kind === 'error' ? part.error.message : ''
  })
  return texts.filter((text) => text !== '').join('\n\n')
}
