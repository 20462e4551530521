import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact } from '../table.ts'
import { initialize } from '../turn/chat.ts'
import { Wire } from '../wire.ts'

const count = 10_000
const files = 1000
const atOnce = 64
const rounds = 5

/**
 * Measures reads of small files through the host, relative to `fs.readFile` alone. The host opens and checks each
 * file before it reads it.
 */
export async function readsTable(): Promise<boolean> {
  console.log(`\nreads: ${count} files of 1 KB, ${atOnce} at once, relative to fs.readFile without a host`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-reads-'))
  for (let n = 0; n < files; n++) writeFileSync(join(folder, `${n}.txt`), 'x'.repeat(1024))
  const host = await start('host-child', [], ['machine'])
  const wire = await initialize(await Wire.open(host.port), 'reader')
  const workingDirectories = [`file://${folder}`]
  await wire.ask('createSession', { channel: 'ahp-session:/reads', workingDirectories })
  const times: { own: number[]; other: number[] } = { own: [], other: [] }
  for (let round = 0; round < rounds; round++) {
    times.own.push(await throughHost(wire, folder))
    times.other.push(await withoutHost(folder))
  }
  const [own, other] = [median(times.own), median(times.other)]
  const each = (ms: number) => `${((ms * 1000) / count).toFixed(0)} µs each`
  fact(
    'through the host, and fs alone',
    `${each(own)}, ${each(other)}: ${(own / other).toFixed(2)}x the time`,
  )
  wire.close()
  await host.stop()
  rmSync(folder, { recursive: true, force: true })
  return true
}

async function throughHost(wire: Wire, folder: string): Promise<number> {
  const first = wire.frames
  const begin = performance.now()
  for (let sent = 0; sent < count;) {
    await wire.until(() => wire.frames - first > sent - atOnce)
    const room = Math.min(count - sent, atOnce - (sent - (wire.frames - first)))
    const messages = Array.from({ length: room }, (_, n) => ({
      jsonrpc: '2.0',
      id: 1000 + sent + n,
      method: 'resourceRead',
      params: { channel: 'ahp-root://', uri: `file://${folder}/${(sent + n) % files}.txt` },
    }))
    wire.send(...messages)
    sent += room
  }
  await wire.until(() => wire.frames - first >= count)
  return performance.now() - begin
}

async function withoutHost(folder: string): Promise<number> {
  const begin = performance.now()
  let next = 0
  const reader = async () => {
    while (next < count) await readFile(join(folder, `${next++ % files}.txt`), 'utf8')
  }
  await Promise.all(Array.from({ length: atOnce }, reader))
  return performance.now() - begin
}
