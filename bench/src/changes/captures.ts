import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { gitCaptures } from '@atrium/adapters/captures'
import type { Captures } from '@atrium/host/ports/captures'
import { median } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'
import { MeasuredRepository } from './folders.ts'

const large = 50_000
const changed = 20
const rounds = 9

/**
 * Measures captures, which store the content of all files of a folder: their time in a large repository, relative to
 * `git status`, and the disk space that the captures of a turn take.
 */
export async function capturesTable(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    const met = await speed(folder)
    return (await disk(folder)) && met
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function speed(folder: string): Promise<boolean> {
  console.log(`\ncaptures: ${large.toLocaleString('en-US')} files in git, relative to git status`)
  const repository = new MeasuredRepository(join(folder, 'large'), { files: large, each: 100, bytes: 400 })
  const status = () => timed(async () => repository.git('status'))
  const first: Pair[] = []
  for (let round = -2; round < rounds; round++) {
    const captures = gitCaptures({ folder: join(folder, `first${round}`) })
    const pair = [await timed(() => take(captures, repository.root)), await status()] as const
    if (round >= 0) first.push(pair)
  }
  const captures = gitCaptures({ folder: join(folder, 'captures') })
  await take(captures, repository.root)
  const nothing: Pair[] = []
  const some: Pair[] = []
  // Captures and git take turns, so that other load on the machine affects both alike. The first rounds are a warm-up.
  for (let round = -3; round < rounds; round++) {
    const turn = async () => {
      await take(captures, repository.root)
      await take(captures, repository.root)
    }
    const idle = [await timed(turn), await status()] as const
    for (let i = 0; i < changed; i++)
      repository.write(repository.paths[(round + 3) * 1000 + i * 101] ?? 'new', repository.text(400))
    const busy = [await timed(() => take(captures, repository.root)), await status()] as const
    if (round < 0) continue
    nothing.push(idle)
    some.push(busy)
  }
  const rows = [
    ratioRow('the first capture', first, 2),
    ratioRow(`a capture with ${changed} changed files`, some, 1.5),
    ratioRow('both captures of a turn that changes nothing', nothing, 2),
  ]
  fact('git status, median', `${median(some.map(([, ms]) => ms)).toFixed(0)} ms`)
  return rows.every(Boolean)
}

/** The time of captures and the time of `git status`, in ms. */
type Pair = readonly [captures: number, status: number]

function ratioRow(what: string, pairs: readonly Pair[], atMost: number): boolean {
  const ratio = median(pairs.map(([ours, bare]) => ours / bare))
  return row(what, `${median(pairs.map(([ours]) => ours)).toFixed(0)} ms`, ratio, { atMost })
}

/**
 * The measured kinds of turns. Each turn changes 20 files, either a tenth of their content or all of it. The changed
 * files are in few folders of 25 files, or each in a folder of its own with 100 files. The git tree object of a
 * folder with 100 files is large, and is stored again when one of the files changes.
 */
const diskLoads: readonly DiskLoad[] = [
  { name: 'a tenth edited, folders of 25 files', files: 400, each: 25, step: 7, all: false },
  { name: 'all contents new, folders of 25 files', files: 400, each: 25, step: 7, all: true },
  { name: 'a tenth edited, in 20 folders of 100 files', files: 2000, each: 100, step: 101, all: false },
]

interface DiskLoad {
  readonly name: string
  readonly files: number
  /** The number of files in a folder. */
  readonly each: number
  /** The number of files from one changed file to the next. */
  readonly step: number
  readonly all: boolean
}

async function disk(folder: string): Promise<boolean> {
  console.log(
    `\ncaptures: the disk that a turn takes which changes ${changed} files of 4 KB, relative to their compressed bytes`,
  )
  let met = true
  for (const [i, load] of diskLoads.entries()) {
    const ratios = await diskOf(join(folder, `disk${i}`), load)
    const worst = Math.max(...ratios)
    const figure = `median ${median(ratios).toFixed(2)}x, worst ${worst.toFixed(2)}x, goal at most 2x`
    met = check(load.name, figure, worst <= 2) && met
  }
  return met
}

/**
 * Runs twelve turns. Returns for each turn the bytes that its captures added, divided by the compressed bytes of the
 * files that it changed.
 */
async function diskOf(folder: string, load: DiskLoad): Promise<readonly number[]> {
  const { files, each, step, all } = load
  const repository = new MeasuredRepository(join(folder, 'tree'), { files, each, bytes: 4096 })
  const stored = join(folder, 'stored')
  const captures = gitCaptures({ folder: stored })
  const ratios: number[] = []
  for (let turn = 0; turn < 12; turn++) {
    await take(captures, repository.root)
    const before = sizeOf(stored)
    let compressed = 0
    for (let i = 0; i < changed; i++) {
      const path = repository.paths[(turn * 29 + i * step) % repository.paths.length] ?? ''
      const old = readFileSync(join(repository.root, path), 'utf8')
      const fresh = repository.text(4096)
      const text = all ? fresh : old.slice(0, 1500) + fresh.slice(0, 400) + old.slice(1900)
      repository.write(path, text)
      compressed += deflateSync(text).length
    }
    await take(captures, repository.root)
    ratios.push((sizeOf(stored) - before) / compressed)
  }
  return ratios
}

function take(captures: Captures, root: string) {
  const budget = { bytes: 1e9, files: 1e6, fileBytes: 1e8 }
  return captures.take(root, { of: 'files', budget, signal: new AbortController().signal })
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await task()
  return performance.now() - began
}

/** The bytes of all stored captures. The index does not count, because git writes it anew with each capture. */
function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'index')
    .map((entry) => statSync(join(entry.parentPath, entry.name)).size)
    .reduce((sum, size) => sum + size, 0)
}
