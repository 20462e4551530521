import { setTimeout as sleep } from 'node:timers/promises'
import { defaultChatUri } from '@atrium/protocol/uri'
import { start } from './child.ts'
import type { Child } from './child.ts'
import { check, fact } from './table.ts'
import { initialize } from './turn/chat.ts'
import { Wire } from './wire.ts'

const MB = 1e6
const bytes = 50 * MB

/**
 * Measures the memory of the host while an agent writes one long text: the peak, and what is still in use after the
 * readers have left.
 */
export async function memoryBench(): Promise<boolean> {
  console.log(
    `\nmemory: a turn of ${bytes / MB} MB of text, to readers that keep up and to readers that do not`,
  )
  const results: boolean[] = []
  for (const readers of [
    { fast: 1, slow: 0 },
    { fast: 10, slow: 0 },
    { fast: 1, slow: 3 },
  ])
    results.push(await stream(readers))
  return results.every(Boolean)
}

interface Readers {
  readonly fast: number
  /** The number of readers that stop reading from their socket. */
  readonly slow: number
}

async function stream({ fast, slow }: Readers): Promise<boolean> {
  const host = await start('host-child', [], ['pour'])
  const session = 'ahp-session:/pour'
  const chat = defaultChatUri(session)
  const maker = await initialize(await Wire.open(host.port), 'maker')
  await maker.ask('createSession', { channel: session, provider: 'pour' })
  const idle = await host.memory()
  const readers: Wire[] = []
  for (let n = 0; n < fast + slow; n++) {
    const wire = await initialize(await Wire.open(host.port), `reader-${n}`)
    await wire.ask('subscribe', { channel: chat })
    if (n >= fast) wire.pause()
    readers.push(wire)
  }
  const ended = untilEnded(readers[0])
  const message = { text: String(bytes), origin: { kind: 'user' } }
  const action = { type: 'chat/turnStarted', turnId: 't', startedAt: new Date().toISOString(), message }
  readers[0]?.send({
    jsonrpc: '2.0',
    method: 'dispatchAction',
    params: { channel: chat, clientSeq: 1, action },
  })
  await ended
  const { peak } = await host.memory()
  for (const wire of [...readers, maker]) wire.close()
  const after = await settled(host, 1.5 * idle.rss)
  await host.stop()
  const copies = (peak - idle.rss) / bytes
  console.log(`  ${fast} reading, ${slow} not reading`)
  fact('  RSS idle, at the peak, after the readers have left', [idle.rss, peak, after].map(mb).join(', '))
  const atPeak = check(
    '  the text in memory at the peak',
    `${copies.toFixed(2)} copies  goal at most 4`,
    copies <= 4,
  )
  const ratio = after / idle.rss
  return (
    check(
      '  RSS after the readers have left',
      `${ratio.toFixed(2)}x idle  goal at most 1.5x`,
      ratio <= 1.5,
    ) && atPeak
  )
}

/** Resolves when a reader has received the end of the turn. */
async function untilEnded(wire: Wire | undefined): Promise<void> {
  let ended = false
  if (!wire) return
  wire.onFrame = (data, start, end) => {
    ended ||= end - start < 4096 && data.toString('latin1', start, end).includes('chat/turnComplete')
  }
  await wire.until(() => ended)
}

/**
 * The RSS of the host in bytes, once it has fallen to `goal`, or after ten seconds. Freed pages go back to the system
 * with a delay.
 */
async function settled(host: Child, goal: number): Promise<number> {
  let { rss } = await host.memory()
  for (let n = 0; n < 20 && rss > goal; n++) {
    await sleep(500)
    ;({ rss } = await host.memory())
  }
  return rss
}

const mb = (size: number) => `${(size / MB).toFixed(0)} MB`
