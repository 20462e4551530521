import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ChangeRecorder, everything } from '../../../../host/src/ports/contracts/watch.contract.ts'
import { newDirectory } from '../../../test/watch-fixture.ts'
import { watchTree } from './watch.ts'
import { newSeed, seeded } from '../../../../protocol/test/seeded.ts'

const seeds = Array.from({ length: 12 }, newSeed)

test.each(seeds)('[O1] [O4] [O5] seed %d: the reported changes lead to the existing files', play)

/** Changes a tree at random. Afterwards, the first list and all reported changes together must give the existing files. */
async function play(seed: number): Promise<void> {
  const { path, list } = await newDirectory()
  const chance = seeded(seed)
  const act = () => pick(chance, acts)(path, () => anyPath(chance), chance)
  for (let i = 0; i < 40; i++) act()
  const listener = new ChangeRecorder(await list())
  const watch = await watchTree(path, everything, listener.listener)
  onTestFinished(() => watch.end())
  for (let i = 0; i < 400; i++) {
    act()
    // Some actions come in one burst, others during a pass.
    for (let turns = Math.floor(chance() ** 4 * 200); turns > 0; turns--) await new Promise(setImmediate)
  }
  writeFileSync(join(path, 'rest'), `${seed}`)
  await listener.until(async () => listener.paths.has('rest') && same(listener.paths, await list()))
  // Each directory is still watched.
  const folders = [...(await list())].filter((name) => statSync(join(path, name)).isDirectory())
  for (const folder of folders) writeFileSync(join(path, folder, 'later'), '1')
  await listener.until(async () => same(listener.paths, await list()))
  expect(listener.lost).toBe(0)
}

type Act = (root: string, any: () => string, chance: () => number) => void

const acts: readonly Act[] = [
  (root, any) => attempt(() => writeFileSync(join(root, any()), '1')),
  (root, any) => attempt(() => writeFileSync(join(root, any()), '22')),
  (root, any) => attempt(() => mkdirSync(join(root, any()), { recursive: true })),
  (root, any) => {
    const file = join(root, any(), 'new', 'file')
    attempt(() => mkdirSync(dirname(file), { recursive: true }))
    attempt(() => writeFileSync(file, '1'))
  },
  (root, any) => attempt(() => renameSync(join(root, any()), join(root, any()))),
  (root, any) => {
    const [one, other] = [join(root, any()), join(root, any())]
    attempt(() => renameSync(one, join(root, 'aside')))
    attempt(() => renameSync(other, one))
    attempt(() => renameSync(join(root, 'aside'), other))
  },
  (root, any) => attempt(() => rmSync(join(root, any()), { recursive: true })),
  (root, any, chance) => {
    const path = join(root, any())
    attempt(() => rmSync(path, { recursive: true }))
    if (chance() < 0.5) attempt(() => mkdirSync(path))
    else attempt(() => writeFileSync(path, '1'))
  },
]

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // An action that the tree does not allow, such as removing a missing file, is skipped.
  }
}

function anyPath(chance: () => number): string {
  const depth = 1 + Math.floor(chance() * 4)
  return Array.from({ length: depth }, () => pick(chance, ['a', 'b', 'c', 'd'])).join('/')
}

function pick<T>(chance: () => number, from: readonly T[]): T {
  return from[Math.floor(chance() * from.length)] as T
}

function same(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((path) => other.has(path))
}
