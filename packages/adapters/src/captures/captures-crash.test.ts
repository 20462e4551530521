import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { CaptureFailed } from '@atrium/host/ports/captures'
import type { CapturedEdit, FolderEdits } from '@atrium/host/ports/captures'
import { undoing } from '../../../host/src/ports/contracts/captures-apply.contract.ts'
import { taking } from '../../../host/src/ports/contracts/captures.contract.ts'
import { searchesInFull } from '../../../protocol/test/search.ts'
import { bundle } from '../../test/bundle.ts'
import { DiskFolder } from '../../test/captures/folder.ts'
import { needsGit, newFolder } from '../../test/repository.ts'
import type { Entry } from './apply/journal.ts'

/** The host is killed at every place, or at every fifth one. */
const stride = searchesInFull ? 1 : 5

const module = await bundle('src/captures/captures.ts')

const child = fileURLToPath(new URL('../../test/captures/apply-child.mjs', import.meta.url))

/** A folder that a turn has changed, and the edits that take the changes back. */
async function changedFolder() {
  const folder = new DiskFolder()
  const { captures, directory } = folder
  for (const path of ['a', 'deep/gone', 'script', 'was-file', 'kept']) await folder.write(path, `${path}\n`)
  await folder.write('link', 'a', '120000')
  const before = await captures.take(directory, taking())
  const old = contentsOf(directory)
  await folder.write('a', 'by the turn')
  await folder.remove('deep')
  await folder.write('script', 'script\n', '100755')
  await folder.remove('was-file')
  await folder.write('was-file/inside', 'by the turn')
  await folder.write('new/er/file', 'by the turn')
  await folder.write('link', 'kept', '120000')
  const after = await captures.take(directory, taking())
  const edits = undoing(await captures.compare(before.id, after.id))
  const saved = join(newFolder(), 'saved')
  cpSync(directory, saved, { recursive: true, verbatimSymlinks: true })
  const changed = contentsOf(directory)
  const reset = () => {
    rmSync(directory, { recursive: true, force: true })
    cpSync(saved, directory, { recursive: true, verbatimSymlinks: true })
  }
  return { folder, directory, edits, old, changed, reset }
}

/** All files of a folder: their paths, kinds, permissions and contents. */
function contentsOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const { mode } = lstatSync(path)
      const content = entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8')
      return `${path} ${entry.isSymbolicLink() ? 'link' : (mode & 0o777).toString(8)} ${content}`
    })
    .toSorted()
}

function applyInChild(folder: DiskFolder, edits: readonly CapturedEdit[], killAt: number) {
  return applyAllInChild(folder, [{ directory: folder.directory, edits }], killAt)
}

function applyAllInChild(folder: DiskFolder, groups: readonly FolderEdits[], killAt: number) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [child], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      MODULE: module,
      FOLDER: folder.data,
      GROUPS: JSON.stringify(groups),
      HOME: folder.user.home,
      KILL_AT: String(killAt),
    },
  })
  if (status !== 0 && signal !== 'SIGKILL') throw new Error(stderr)
  return { killed: signal === 'SIGKILL', output: stdout }
}

describe('[O21] a host that is killed while it applies edits', () => {
  needsGit()
  test('changes all files or none, wherever it is killed', async () => {
    const { folder, directory, edits, old, changed, reset } = await changedFolder()
    const seen = { finished: 0, untouched: 0 }
    let steps = 0
    for (let killed = true; killed;) {
      reset()
      ;({ killed } = applyInChild(folder, edits, (steps += stride)))
      const applied = await (await folder.restart()).recover()
      const now = contentsOf(directory)
      const whole = killed && applied.length === 0 && now.join() === changed.join() ? 'untouched' : 'finished'
      expect(now, `killed before change ${steps}`).toEqual(whole === 'untouched' ? changed : old)
      for (const each of applied) expect(each.left).toEqual([])
      expect(
        readdirSync(folder.data, { recursive: true }).filter((name) => /journal./.test(String(name))),
      ).toEqual([])
      seen[whole]++
    }
    console.log(
      `${steps} places of a kill, of which one in ${stride} was tried: ${seen.untouched} changed nothing, ${seen.finished} everything`,
    )
    expect(seen.untouched).toBeGreaterThan(10 / stride)
    expect(seen.finished).toBeGreaterThan(10 / stride)
  })

  test('[O38.2] [O38] [O20.1] changes the files of several folders or none of them, wherever it is killed', async () => {
    const { folder, directory, edits } = await changedFolder()
    const other = join(newFolder(), 'other')
    mkdirSync(other)
    const write = (text: string) => writeFileSync(join(other, 'b'), text)
    write('before')
    const before = await folder.captures.take(other, taking())
    write('by the turn')
    const after = await folder.captures.take(other, taking())
    const edit = edits.filter(({ path }) => path === 'a')
    const groups = [
      { directory, edits: edit },
      { directory: other, edits: undoing(await folder.captures.compare(before.id, after.id)) },
    ]
    const seen = new Set<string>()
    let steps = 0
    for (let killed = true; killed;) {
      await folder.write('a', 'by the turn')
      write('by the turn')
      ;({ killed } = applyAllInChild(folder, groups, ++steps))
      for (const each of await (await folder.restart()).recover()) expect(each.left).toEqual([])
      seen.add(`${await folder.text('a')}, ${readFileSync(join(other, 'b'), 'utf8')}`)
      expect(readdirSync(other)).toEqual(['b'])
    }
    expect([...seen]).toEqual(['by the turn, by the turn', 'a\n, before'])
  })

  test('a group of an earlier version of the host, which had one folder, is finished', async () => {
    const { folder, edits, directory } = await changedFolder()
    const edit = edits.filter(({ path }) => path === 'a')
    const journal = join(folder.data, 'journal')
    let decided: string | undefined
    for (let steps = 1; decided === undefined; steps++) {
      await folder.write('a', 'by the turn')
      rmSync(journal, { recursive: true, force: true })
      mkdirSync(journal)
      applyInChild(folder, edit, steps)
      decided = readdirSync(journal).find((name) => name.endsWith('.json'))
    }
    const path = join(journal, decided)
    const { id, folders } = JSON.parse(readFileSync(path, 'utf8')) as Entry
    writeFileSync(path, JSON.stringify({ id, ...folders[0] }))
    const applied = await (await folder.restart()).recover()
    expect(applied).toEqual([{ directory, done: ['a'], left: [] }])
    expect(await folder.text('a')).toBe('a\n')
  })

  test('[O40] changes a file or not, also if the new content is in no capture', async () => {
    const { folder, edits, reset } = await changedFolder()
    const expected = edits.find(({ path }) => path === 'a')?.expected
    if (!expected) throw new Error('no edit')
    const bytes = [...Buffer.from('a part of it')]
    // The child makes bytes of the numbers.
    const edit = { path: 'a', expected, wanted: { bytes, mode: '100644' } } as unknown as CapturedEdit
    const seen = new Set<string | undefined>()
    let steps = 0
    for (let killed = true; killed;) {
      reset()
      ;({ killed } = applyInChild(folder, [edit], ++steps))
      for (const each of await (await folder.restart()).recover()) expect(each.left).toEqual([])
      seen.add(await folder.text('a'))
    }
    expect([...seen]).toEqual(['by the turn', 'a part of it'])
  })

  test('leaves what a person has changed before the recovery, and reports it', async () => {
    const { folder, edits, reset } = await changedFolder()
    let [steps, reported] = [0, 0]
    for (let killed = true; killed;) {
      reset()
      ;({ killed } = applyInChild(folder, edits, (steps += 3 * stride)))
      const person: Record<string, string> = {
        a: 'by a person',
        script: 'by a person',
        'deep/gone': 'by a person',
      }
      for (const [path, text] of Object.entries(person)) await folder.write(path, text)
      const [applied] = await (await folder.restart()).recover()
      for (const [path, text] of Object.entries(person)) expect(await folder.text(path)).toBe(text)
      if (!applied) continue
      const paths = applied.left.map(({ path }) => path)
      expect(paths.toSorted()).toEqual(Object.keys(person).toSorted())
      expect(applied.done.length).toBe(edits.length - paths.length)
      reported++
    }
    expect(reported).toBeGreaterThan(3 / stride)
  })
})

describe('[O20] applying edits on the disk', () => {
  needsGit()
  test('[O20.2] permissions stay as they are, except for the permission to execute', async () => {
    const { folder, edits } = await changedFolder()
    chmodSync(folder.at('a'), 0o640)
    chmodSync(folder.at('script'), 0o750)
    await folder.captures.apply(folder.directory, edits)
    expect(statSync(folder.at('a')).mode & 0o777).toBe(0o640)
    expect(statSync(folder.at('script')).mode & 0o777).toBe(0o640)
    expect(existsSync(folder.at('new'))).toBe(false)
  })

  test('[O20.3] an edit does not follow a link out of the folder', async () => {
    const { folder, edits } = await changedFolder()
    const outside = newFolder()
    mkdirSync(join(outside, 'er'))
    writeFileSync(join(outside, 'er', 'file'), 'by the turn')
    rmSync(folder.at('new'), { recursive: true })
    symlinkSync(outside, folder.at('new'))
    symlinkSync(outside, folder.at('deep'))
    const { left } = await folder.captures.apply(folder.directory, edits)
    expect(left.map(({ path }) => path).toSorted()).toEqual(['deep/gone', 'new/er/file'])
    expect(readdirSync(outside, { recursive: true })).toEqual(['er', 'er/file'])
  })

  test('[O20.1] if a new content cannot be written, no file is changed', async () => {
    const { folder, directory, edits, changed } = await changedFolder()
    // A journal that cannot be written stands for a full disk: root may write to every folder.
    writeFileSync(join(folder.data, 'journal'), '')
    await expect(folder.captures.apply(directory, edits)).rejects.toThrow(CaptureFailed)
    await expect(folder.captures.apply(directory, edits)).rejects.toThrow(/^Nothing was changed: .+\.$/)
    expect(contentsOf(directory)).toEqual(changed)
  })
})
