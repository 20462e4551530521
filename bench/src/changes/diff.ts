import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitCaptures } from '@atrium/adapters/captures'
import type { Captures } from '@atrium/host/ports/captures'
import { median } from '../percentiles.ts'
import { row } from '../table.ts'
import { MeasuredRepository } from './folders.ts'

const changed = 2000
const rounds = 9

/**
 * Measures the time to compare two captures with 2,000 changed files, relative to `git diff --stat` of the same
 * files. Only the whole comparison is timed, because it yields no file before its end.
 */
export async function diffTable(): Promise<boolean> {
  console.log(`\ndiff: ${changed.toLocaleString('en-US')} changed files, relative to git diff --stat`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    const repository = new MeasuredRepository(join(folder, 'tree'), {
      files: 2 * changed,
      each: 100,
      bytes: 2000,
    })
    const captures = gitCaptures({ folder: join(folder, 'captures') })
    const before = await take(captures, repository.root)
    for (let i = 0; i < changed; i++) repository.write(repository.paths[i * 2] ?? '', repository.text(2000))
    const after = await take(captures, repository.root)
    const pairs: (readonly [number, number])[] = []
    for (let round = -2; round < rounds; round++) {
      const ours = await timed(() => captures.compare(before, after))
      const bare = await timed(async () => repository.git('diff', '--stat'))
      if (round >= 0) pairs.push([ours, bare])
    }
    const ratio = median(pairs.map(([ours, bare]) => ours / bare))
    const figure = `${median(pairs.map(([ours]) => ours)).toFixed(0)} ms`
    return row('the first file, with the numbers of lines', figure, ratio, { atMost: 1.2 })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function take(captures: Captures, root: string): Promise<string> {
  const budget = { bytes: 1e9, files: 1e6, fileBytes: 1e8 }
  return (await captures.take(root, { of: 'files', budget, signal: new AbortController().signal })).id
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await task()
  return performance.now() - began
}
