import { expect, test } from 'vitest'
import { creation, step } from './fixture.contract.ts'
import type { Opened } from './fixture.contract.ts'

/** The suite for the records of a store. */
export function recordsContract(name: string, open: () => Promise<Opened>): void {
  test(`[L10] ${name}: a record is put, got, replaced and deleted, durable or not`, async () => {
    const { store } = await open()
    const { records, log } = store
    for (const settle of [async () => {}, () => log.flush()]) {
      records.put('client/ann', '{"n":1}')
      await settle()
      expect(await records.get('client/ann')).toBe('{"n":1}')
      records.put('client/ann', '')
      await settle()
      expect(await records.get('client/ann')).toBe('')
      records.delete('client/ann')
      records.delete('client/unknown')
      await settle()
      expect(await records.get('client/ann')).toBeUndefined()
      expect(await records.list('')).toEqual([])
    }
  })

  test(`[L10] ${name}: a read sees every earlier put, even during a flush`, async () => {
    const { records, log } = (await open()).store
    records.put('a', '1')
    records.put('b', '1')
    const flushed = log.flush()
    records.put('a', '2')
    records.delete('b')
    expect(await Promise.all([records.get('a'), records.get('b'), records.list('')])).toEqual([
      '2',
      undefined,
      [['a', '2']],
    ])
    await flushed
    expect(await records.list('')).toEqual([['a', '2']])
    await log.flush()
    expect(await records.list('')).toEqual([['a', '2']])
  })

  test(`[L10] ${name}: a list has all keys of a prefix in order, from the disk and from the queue`, async () => {
    const { records, log } = (await open()).store
    for (const key of ['s/b', 's/d', 's/a', 's', 't/a', 'S/a']) records.put(key, `old ${key}`)
    await log.flush()
    records.put('s/c', 'new')
    records.put('s/a', 'new')
    records.delete('s/d')
    expect(await records.list('s/')).toEqual([
      ['s/a', 'new'],
      ['s/b', 'old s/b'],
      ['s/c', 'new'],
    ])
    expect((await records.list('')).map(([key]) => key)).toEqual(['S/a', 's', 's/a', 's/b', 's/c', 't/a'])
  })

  test(`[L10] ${name}: no character of a key is special`, async () => {
    const { store, reopen } = await open()
    const keys = ['%', '%a', '_', '_a', '*', "'", '"', '\\', 'ü', 'üa', '𝒳', '𝒳\u{10ffff}a', 'é', 'e\u0301']
    const odd = ['__proto__', 'constructor', ' ', '\t', '\uffff', '', 'a\x1eb', 'a\x1f', '\x1e\x1f']
    for (const key of [...keys, ...odd]) store.records.put(key, `of ${key}`)
    await store.log.flush()
    const { records } = await reopen()
    for (const key of [...keys, ...odd]) expect(await records.get(key)).toBe(`of ${key}`)
    const starting = async (prefix: string) => (await records.list(prefix)).map(([key]) => key)
    expect(await starting('%')).toEqual(['%', '%a'])
    expect(await starting('_')).toEqual(['_', '__proto__', '_a'])
    expect(await starting('𝒳')).toEqual(['𝒳', '𝒳\u{10ffff}a'])
    expect(await starting('ü')).toEqual(['ü', 'üa'])
    expect(await starting('')).toHaveLength(keys.length + odd.length)
  })

  test(`[L10] ${name}: a long list is complete, also around texts with control characters`, async () => {
    const { records, log } = (await open()).store
    const count = 3001
    const keys = Array.from({ length: count }, (_, at) => `s/${String(at).padStart(4, '0')}`)
    const textOf = (at: number) => (at === 1500 ? 'a\x1eb\x1fc' : at % 7 === 0 ? '' : `text ${at}`)
    for (const [at, key] of keys.entries()) records.put(key, textOf(at))
    records.put('s', 'before')
    records.put('s0', 'after')
    await log.flush()
    expect(await records.list('s/')).toEqual(keys.map((key, at) => [key, textOf(at)]))
    expect(await records.list('s/2')).toHaveLength(1000)
    expect(await records.list('s/3000')).toEqual([['s/3000', 'text 3000']])
    expect(await records.list('t')).toEqual([])
  })

  test(`[L10] ${name}: a NUL, which neither JSON nor an id contains, is refused at once`, async () => {
    const { store } = await open()
    expect(() => store.records.put('a\0b', '')).toThrow('NUL')
    expect(() => store.records.put('a', 'x\0y')).toThrow('NUL')
    expect(() => store.log.append(step({ created: [creation('ahp-chat:/\0', 1)] }))).toThrow('NUL')
    await store.log.flush()
    expect(await store.records.list('')).toEqual([])
  })

  test(`[L4] [L4.2] ${name}: one flush makes a step and its records durable together`, async () => {
    const { store, reopen } = await open()
    store.log.append(step({ created: [creation('ahp-chat:/1', 1)] }))
    store.records.put('open/1', 'creating')
    store.records.put('gone', 'soon')
    await store.log.flush()
    store.log.append(step({ created: [creation('ahp-chat:/2', 2)] }))
    store.records.delete('gone')
    store.records.put('late', 'never flushed')
    const next = await reopen()
    expect(await next.records.list('')).toEqual([
      ['gone', 'soon'],
      ['open/1', 'creating'],
    ])
    expect(await next.log.load('ahp-chat:/1')).toMatchObject({ seq: 1 })
    expect(await next.log.load('ahp-chat:/2')).toBeUndefined()
  })

  test(`[L10] ${name}: a record of 5 MB is stored`, async () => {
    const { store, reopen } = await open()
    const large = 'ü'.repeat(2_500_000)
    store.records.put('large', large)
    await store.log.flush()
    expect((await (await reopen()).records.get('large')) === large).toBe(true)
  })
}
