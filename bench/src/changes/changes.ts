import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { gitCaptures } from '@atrium/adapters/captures'
import type { Captures } from '@atrium/host/ports/captures'
import { atMost, parts, row } from '../figures.ts'
import { median } from '../percentiles.ts'
import { inTurns, mb, ms, ratioOf, timed } from '../sides.ts'
import { MeasuredRepository } from './folders.ts'

const changed = 20

/**
 * Measures captures, which store the content of all files of a folder: their time in a large repository, the disk that
 * those of a turn take, and the time to compare two.
 */
export async function changesBench(wanted: readonly string[]): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    return await parts(wanted, {
      captures: () => speed(folder),
      disk: () => disk(folder),
      diff: () => diff(folder),
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function speed(folder: string): Promise<boolean> {
  const repository = new MeasuredRepository(join(folder, 'large'), { files: 50_000, each: 100, bytes: 400 })
  const status = () => timed(() => repository.git('status'))
  const first = await inTurns(
    { rounds: 5 },
    {
      ours: (round) =>
        timed(() => take(gitCaptures({ folder: join(folder, `first${round}`) }), repository.root)),
      bare: status,
    },
  )
  const captures = gitCaptures({ folder: join(folder, 'captures') })
  await take(captures, repository.root)
  const again = () => timed(() => take(captures, repository.root))
  const times = await inTurns(
    { rounds: 9, warm: 3 },
    {
      nothing: async () => (await again()) + (await again()),
      before: status,
      some: (round) => {
        for (let i = 0; i < changed; i++)
          repository.write(repository.paths[round * 1000 + i * 101] ?? 'new', repository.text(400))
        return again()
      },
      after: status,
    },
  )
  const captureRow = (what: string, ours: readonly number[], bare: readonly number[], most: number) =>
    row(
      `${what}, of 50,000 files in git`,
      ms(median(ours), 0),
      atMost(most, ratioOf(ours, bare), 'git status'),
    )
  return [
    captureRow('the first capture', first.ours, first.bare, 2),
    captureRow(`a capture after ${changed} changes`, times.some, times.after, 1.5),
    captureRow('both captures of a turn that changes nothing', times.nothing, times.before, 2),
  ].every(Boolean)
}

/** Twelve turns that each edit a tenth of 20 files in folders of 25: what their captures take. */
async function disk(folder: string): Promise<boolean> {
  const repository = new MeasuredRepository(join(folder, 'tree'), { files: 400, each: 25, bytes: 4096 })
  const stored = join(folder, 'stored')
  const captures = gitCaptures({ folder: stored })
  let [taken, compressed] = [0, 0]
  for (let turn = 0; turn < 12; turn++) {
    await take(captures, repository.root)
    const before = sizeOf(stored)
    for (let i = 0; i < changed; i++) {
      const path = repository.paths[(turn * 29 + i * 7) % repository.paths.length] ?? ''
      const old = readFileSync(join(repository.root, path), 'utf8')
      const text = old.slice(0, 1500) + repository.text(400) + old.slice(1900)
      repository.write(path, text)
      compressed += deflateSync(text).length
    }
    await take(captures, repository.root)
    taken += sizeOf(stored) - before
  }
  return row(
    `the disk of 12 turns that edit ${changed} files of 4 KB`,
    mb(taken),
    atMost(2, taken / compressed, 'those files, compressed'),
  )
}

async function diff(folder: string): Promise<boolean> {
  const size = { files: 4000, each: 100, bytes: 2000 }
  const repository = new MeasuredRepository(join(folder, 'diff'), size)
  const captures = gitCaptures({ folder: join(folder, 'compared') })
  const before = await take(captures, repository.root)
  for (let i = 0; i < size.files; i += 2) repository.write(repository.paths[i] ?? '', repository.text(2000))
  const after = await take(captures, repository.root)
  const times = await inTurns(
    { rounds: 9, warm: 2 },
    {
      ours: () => timed(() => captures.compare(before, after)),
      bare: () => timed(() => repository.git('diff', '--stat')),
    },
  )
  return row(
    'the difference of two captures, 2,000 changed files',
    ms(median(times.ours), 0),
    atMost(1.2, ratioOf(times.ours, times.bare), 'git diff --stat'),
  )
}

async function take(captures: Captures, root: string): Promise<string> {
  const budget = { bytes: 1e9, files: 1e6, fileBytes: 1e8 }
  return (await captures.take(root, { of: 'files', budget, signal: new AbortController().signal })).id
}

/** The bytes of all stored captures. The index does not count, because git writes it anew with each capture. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'index')
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0)
}
