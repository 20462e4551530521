import { cpSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { creation, envelope, step } from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { filled, newFolder, one, open } from '../../../../test/store-folder.ts'
import { openSqlite } from '../sqlite.ts'

const journal = (folder: string) => join(folder, 'atrium.db-wal')
const boundFile = (folder: string) => join(folder, 'atrium.upto')

/** A copy of the folder of a store that was killed. It was closed once with numbers up to 5000, and has flushed up to 7000. */
async function killed(): Promise<string> {
  const folder = await filled()
  const { log } = await open(folder)
  for (const seq of [6000, 7000]) {
    log.append(step({ envelopes: [envelope(seq, one)], upTo: seq }))
    await log.flush()
  }
  // A further request is answered after the bound of the last flush is written.
  await log.load(one)
  const copy = join(newFolder(), 'copy')
  cpSync(folder, copy, { recursive: true })
  return copy
}

describe('[L8.9] F-03: a store that has lost flushed steps says so', () => {
  test('nothing is lost by a kill', async () => {
    const folder = await killed()
    const { log } = await open(folder)
    expect([log.upTo, log.lost]).toEqual([7000, undefined])
  })

  test.each([
    ['removed', (path: string) => rmSync(path)],
    ['emptied', (path: string) => truncateSync(path, 0)],
    ['zeroed', (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
  ])('its journal was %s', async (_, damage) => {
    const folder = await killed()
    damage(journal(folder))
    for (const options of [{ readOnly: true }, {}]) {
      const { log } = await open(folder, options)
      expect([log.upTo, log.lost]).toEqual([5000, 7000])
      await log.close()
    }
    // As long as nothing was written, the next start finds the same.
    const { log } = await open(folder)
    expect(log.lost).toBe(7000)
    log.append(step({ upTo: 9000 }))
    await log.flush()
    await log.close()
    const next = await open(folder)
    expect([next.log.upTo, next.log.lost]).toEqual([9000, undefined])
  })

  test('its journal has lost its last step only', async () => {
    const folder = await killed()
    const bytes = readFileSync(journal(folder))
    writeFileSync(journal(folder), bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1))
    const { log } = await open(folder)
    expect([log.upTo, log.lost]).toEqual([6000, 7000])
  })

  test('a new store was killed, and everything was in the journal', async () => {
    const folder = newFolder()
    const { log } = await open(folder)
    log.append(step({ created: [creation(one, 1)], upTo: 800 }))
    await log.flush()
    await log.load(one)
    const copy = join(newFolder(), 'copy')
    cpSync(folder, copy, { recursive: true })
    rmSync(journal(copy))
    const next = await open(copy)
    expect([next.log.upTo, next.log.lost]).toEqual([0, 800])
  })

  test('[L8.10] the database was emptied or removed beside its journal: the store is refused and stays as it is', async () => {
    for (const harm of [(path: string) => writeFileSync(path, ''), (path: string) => rmSync(path)]) {
      const folder = await killed()
      harm(join(folder, 'atrium.db'))
      const before = readFileSync(journal(folder))
      for (const readOnly of [true, false])
        await expect(openSqlite(folder, { readOnly })).rejects.toThrow('is empty or gone, and its journal')
      expect(readFileSync(journal(folder)).equals(before)).toBe(true)
    }
  })

  test('[L8.11] a damaged bound file is reported, and written anew', async () => {
    const folder = await filled()
    writeFileSync(join(folder, 'atrium.upto'), 'nonsense')
    const said: string[] = []
    for (const readOnly of [true, false]) {
      const { log } = await open(folder, { readOnly, notice: (sentence) => said.push(sentence) })
      if (!readOnly) {
        log.append(step({ upTo: 9000 }))
        await log.flush()
      }
      await log.close()
    }
    expect(said).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('atrium.upto in') as string))
    await (await open(folder, { notice: (sentence) => expect.unreachable(sentence) })).log.close()
  })

  test('the damaged journal is kept under another name', async () => {
    const folder = await killed()
    const bytes = readFileSync(journal(folder))
    bytes[100] = 255
    writeFileSync(journal(folder), bytes)
    const { log } = await open(folder)
    log.append(step({ envelopes: [envelope(8000, one)], upTo: 8000 }))
    await log.flush()
    const kept = readdirSync(folder).filter((name) => /^atrium-lost-.*\.db-wal$/.test(name))
    expect(kept).toHaveLength(1)
    expect(readFileSync(join(folder, kept[0] ?? ''))).toEqual(bytes)
    expect(statSync(join(folder, kept[0] ?? '')).mode & 0o777).toBe(0o600)
  })

  test.each(['', 'nonsense', '9000 0000000000000\n'])(
    'a bound file with the text %j says nothing',
    async (text) => {
      const folder = await killed()
      writeFileSync(boundFile(folder), text)
      const { log } = await open(folder)
      expect([log.upTo, log.lost]).toEqual([7000, undefined])
    },
  )

  test('a bound is never written before its flush', async () => {
    const folder = await filled()
    const before = readFileSync(boundFile(folder), 'utf8')
    const { log } = await open(folder, { maxPages: () => 1 })
    log.append(step({ envelopes: [{ ...envelope(6000, one), action: 'x'.repeat(100_000) }], upTo: 6000 }))
    await expect(log.flush()).rejects.toMatchObject({ name: 'DiskFull' })
    await log.load(one)
    expect(readFileSync(boundFile(folder), 'utf8')).toBe(before)
  })
})
