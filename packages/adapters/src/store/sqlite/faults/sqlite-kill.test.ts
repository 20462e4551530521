import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { newFolder, one, open } from '../../../../test/store-folder.ts'
import { threadFile } from '../../../process/thread.ts'

test('[F-01] kill -9 during flushes loses nothing that was reported durable', async () => {
  const folder = newFolder()
  let reported = 1
  for (const flushes of [3, 20, 60]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', writingForEver], {
      env: { ...process.env, FOLDER: folder, AFTER: String(reported), WORKER: workerPath },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const wanted = reported + flushes * 10
    for await (const line of createInterface(child.stdout)) {
      reported = Number(line)
      if (reported > wanted) child.kill('SIGKILL')
    }
    if (child.signalCode === null) await once(child, 'exit')
    expect(child.signalCode).toBe('SIGKILL')
    const { log, records } = await open(folder)
    const loaded = await log.load(one)
    const numbers = loaded && 'envelopes' in loaded ? loaded.envelopes.map(({ seq }) => seq) : []
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 2))
    // Only whole steps of ten envelopes are stored, and the record of the last step with them.
    expect(numbers.length % 10).toBe(0)
    expect(numbers.length + 1).toBeGreaterThanOrEqual(reported)
    expect(await records.get('last')).toBe(String(numbers.at(-1)))
    expect(log.upTo).toBe(numbers.at(-1))
    reported = numbers.length + 1
    await log.close()
  }
})

const workerPath = threadFile(new URL('../worker.js', import.meta.url)).href

/**
 * A script that writes steps without end, each with ten envelopes and one record. It prints the last sequence number after
 * each flush.
 */
const writingForEver = `
  import { Worker } from 'node:worker_threads'
  const worker = new Worker(new URL(process.env.WORKER), { execArgv: [] })
  const ask = (name, ...args) => {
    worker.postMessage({ id: 1, name, args })
    return new Promise((resolve, reject) =>
      worker.once('message', ({ value, error }) => (error ? reject(error) : resolve(value))))
  }
  const channel = 'ahp-chat:/1'
  await ask('open', { folder: process.env.FOLDER, readOnly: false })
  let seq = Number(process.env.AFTER)
  const created = seq > 1 ? [] : [{ channel, seq, kind: 'chat', state: '{}' }]
  for (let first = true; ; first = false) {
    const envelopes = Array.from({ length: 10 }, () => ({ seq: ++seq, channel, action: '{"n":' + seq + '}' }))
    const step = { created: first ? created : [], envelopes, rows: [], heads: [], dropped: [], upTo: seq }
    await ask('flush', { steps: [step], records: new Map([['last', String(seq)]]) })
    console.log(seq)
  }
`
