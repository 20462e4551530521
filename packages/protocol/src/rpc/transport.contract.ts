import { expect, test } from 'vitest'
import type { Transport } from './transport.ts'

/** The test suite for all transports. `join` returns two connected ends. */
export function transportContract(name: string, join: () => Promise<readonly [Transport, Transport]>): void {
  test(`[R1] ${name}: frames sent as text or bytes arrive whole and in order`, async () => {
    const [a, b] = await join()
    const got = collect(b, 4)
    a.send('one')
    a.send(new TextEncoder().encode('zwei ü 𝒳'))
    a.send('')
    a.send('x'.repeat(100_000))
    expect(await got).toEqual(['one', 'zwei ü 𝒳', '', 'x'.repeat(100_000)])
    a.close()
  })

  test(`[R1] ${name}: both directions work at the same time`, async () => {
    const [a, b] = await join()
    const got = Promise.all([collect(a, 2), collect(b, 2)])
    for (const n of ['1', '2']) {
      a.send(`a${n}`)
      b.send(`b${n}`)
    }
    expect(await got).toEqual([
      ['b1', 'b2'],
      ['a1', 'a2'],
    ])
    a.close()
  })

  test(`[R1] ${name}: frames sent before the close arrive; frames sent after it do not`, async () => {
    const [a, b] = await join()
    const got: string[] = []
    b.receive((frame) => got.push(frame))
    a.send('last words')
    a.close()
    a.send('too late')
    await Promise.all([ended(a), ended(b)])
    expect(got).toEqual(['last words'])
  })

  test(`[R1] ${name}: no bytes stay buffered when the other side reads`, async () => {
    const [a, b] = await join()
    const got = collect(b, 1)
    a.send('hello')
    await got
    expect(a.buffered).toBe(0)
    a.close()
  })

  test(`[R1] ${name}: drained resolves when no bytes are buffered`, async () => {
    const [a, b] = await join()
    await a.drained()
    const got = collect(b, 2)
    a.send('ü'.repeat(500_000))
    a.send('y')
    // `buffered` counts bytes, not characters.
    expect(a.buffered).toBeGreaterThanOrEqual(1_000_001)
    await Promise.all([a.drained(), a.drained()])
    expect(a.buffered).toBe(0)
    expect((await got).map((frame) => frame.length)).toEqual([500_000, 1])
    a.close()
  })

  test(`[R1] ${name}: drained resolves when the transport closes`, async () => {
    const [a, b] = await join()
    a.send('hello')
    const drained = a.drained()
    b.close()
    a.close()
    await Promise.all([drained, ended(a), ended(b)])
    await a.drained()
    expect(a.closed.aborted).toBe(true)
  })

  test(`[R1] ${name}: a second close has no effect`, async () => {
    const [a, b] = await join()
    a.close()
    a.close()
    b.close()
    await Promise.all([ended(a), ended(b)])
    expect(a.closed.aborted && b.closed.aborted).toBe(true)
  })
}

function collect(transport: Transport, count: number): Promise<string[]> {
  return new Promise((resolve) => {
    const got: string[] = []
    transport.receive((frame) => {
      if (got.push(frame) === count) resolve(got)
    })
  })
}

function ended({ closed }: Transport): Promise<void> {
  return new Promise((resolve) => {
    if (closed.aborted) resolve()
    else closed.addEventListener('abort', () => resolve(), { once: true })
  })
}
