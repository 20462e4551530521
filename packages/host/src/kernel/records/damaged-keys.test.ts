import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { CheckedRecords } from './checked-records.ts'
import { sealed } from './checksum.ts'

const key = 'enablement/["x"]'

/** Opens the records of a store, as a start does, and lists the decisions in it. */
async function opened(store: ReturnType<typeof memoryStore>['records']) {
  const said: string[] = []
  const records = new CheckedRecords(store, 'here', (sentence) => said.push(sentence))
  await records.restoreKeys()
  return { decisions: await records.list('enablement/'), said }
}

/** Every form in which a key can be read after one of its bits was flipped. */
const flips = Array.from(key).flatMap((char, at) =>
  Array.from({ length: 8 }, (_, bit) => {
    const flipped = bit === 7 ? '\ufffd' : String.fromCharCode(char.charCodeAt(0) ^ (1 << bit))
    return `${key.slice(0, at)}${flipped}${key.slice(at + 1)}`
  }),
)

test('[L60.5] a decision with any flipped bit in its key still holds, and is reported once', async () => {
  for (const flipped of flips) {
    const { records: store } = memoryStore()
    const stored = sealed(key, 'off')
    store.put(flipped, stored)
    const { decisions, said } = await opened(storeOf(store, [flipped]))
    expect([flipped, decisions]).toEqual([flipped, [[key, 'off']]])
    expect(said).toEqual([expect.stringContaining(`The key of the record ${JSON.stringify(key)}`)])
    expect(await opened(storeOf(store, [key]))).toEqual({ decisions, said: [] })
    expect(await store.list('')).toEqual([[key, stored]])
  }
})

test('[L60.5] a record of another build stays, and a damaged one of no kind is set aside', async () => {
  const { records: store } = memoryStore()
  store.put('later/x', sealed('later/x', 'new'))
  store.put('earlier', 'old')
  store.put('unknown/x', `${sealed('unknown/x', 'lost')}?`)
  const { said } = await opened(storeOf(store, ['later/x', 'earlier', 'unknown/x']))
  expect(said).toEqual([expect.stringContaining('"unknown/x"')])
  expect((await store.list('')).map(([each]) => each)).toEqual(['damaged/unknown/x', 'earlier', 'later/x'])
})

test('[L60.5] of two records of one key, the damaged one is set aside', async () => {
  const { records: store } = memoryStore()
  store.put('enablement/["y"]', sealed(key, 'on'))
  store.put(key, sealed(key, 'off'))
  const { decisions, said } = await opened(store)
  expect(decisions).toContainEqual([key, 'off'])
  expect(decisions).not.toContainEqual([key, 'on'])
  expect(said).toHaveLength(1)
})

/** A store in memory knows the kinds of what is durable only, and nothing is flushed here. */
function storeOf(store: ReturnType<typeof memoryStore>['records'], keys: readonly string[]) {
  return { ...store, kinds: async () => keys.map((each) => each.slice(0, each.indexOf('/') + 1) || each) }
}
