import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './percentiles.ts'
import { command, serve } from './serve.ts'
import { atrium, firstAnswer } from './start/first-answer.ts'
import { growthTable } from './start/growth.ts'
import { fact, row } from './table.ts'

const rounds = 21
const bareHost = fileURLToPath(new URL('./start-child.js', import.meta.url))

/** Measures the time from the start of `atrium serve` to its first answer, relative to a bare `ws` host. */
export async function startBench(): Promise<boolean> {
  console.log('\nstart: from the start of the process to the answer to `initialize`')
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  const data = join(folder, 'data')
  try {
    // The first start creates the store, so it is not measured.
    await firstAnswer(atrium(data))
    await firstAnswer([bareHost])
    const times = { ours: [] as number[], bare: [] as number[], fresh: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      times.bare.push(await firstAnswer([bareHost]))
      times.ours.push(await firstAnswer(atrium(data)))
      times.fresh.push(await firstAnswer(atrium(join(folder, `fresh-${round}`))))
    }
    const [ours, bare, fresh] = [median(times.ours), median(times.bare), median(times.fresh)]
    fact('a bare ws host', `${bare.toFixed(0)} ms`)
    fact('atrium serve on a new data folder', `${fresh.toFixed(0)} ms`)
    const met = row('atrium serve', `${ours.toFixed(0)} ms`, ours / bare, { atMost: 1.5 })
    await verb(join(folder, 'verb'))
    const flat = await growthTable(join(folder, 'growth'))
    return met && flat
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Prints the run time of a short command against a running host, and that of an empty Node program for comparison.
 */
async function verb(data: string): Promise<void> {
  const host = await serve(data)
  const times = { ls: [] as number[], node: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    times.node.push(await toExit(['-e', '0']))
    times.ls.push(await toExit([command, 'ls', '--quiet', '--data', data]))
  }
  host.child.kill('SIGTERM')
  await host.exit
  fact('an empty Node program', `${median(times.node).toFixed(0)} ms`)
  fact('atrium ls', `${median(times.ls).toFixed(0)} ms`)
}

async function toExit(args: readonly string[]): Promise<number> {
  const began = performance.now()
  await once(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  return performance.now() - began
}
