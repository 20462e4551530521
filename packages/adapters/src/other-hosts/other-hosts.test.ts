import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { wereActive } from '@atrium/host/ports/other-hosts'
import { describe, expect, test } from 'vitest'
import { otherHostsContract } from '../../../host/src/ports/contracts/other-hosts.contract.ts'
import { bundle } from '../../test/bundle.ts'
import { newFolder } from '../../test/repository.ts'
import { markedHosts } from './other-hosts.ts'

const withoutRepository = async () => {
  const [folder, directory] = [join(newFolder(), 'state', 'hosts'), newFolder()]
  mkdirSync(join(directory, 'sub'))
  return { directory, folder, host: () => markedHosts({ folder }) }
}

/** A repository, whose hosts have nothing but its git directory in common. */
const repository = async () => {
  const directory = newFolder()
  mkdirSync(join(directory, 'sub'))
  for (const path of ['objects', 'refs']) mkdirSync(join(directory, '.git', path), { recursive: true })
  writeFileSync(join(directory, '.git', 'HEAD'), 'ref: refs/heads/main\n')
  const marks = join(directory, '.git', 'atrium')
  return { directory, marks, host: () => markedHosts({ folder: join(newFolder(), 'hosts') }) }
}

otherHostsContract('marks in a folder of the user', withoutRepository)
otherHostsContract('marks in a git directory', repository)

const module = await bundle('src/other-hosts/other-hosts.ts')

/** Another process with a host that has an active turn. */
async function otherProcess(folder: string, directory: string) {
  const program = `
    const { markedHosts } = await import(process.env.MODULE)
    markedHosts({ folder: process.env.FOLDER }).note(process.env.DIRECTORY, 1)
    console.log('noted')
    setInterval(() => {}, 1000)`
  const env = { PATH: process.env['PATH'], MODULE: module, FOLDER: folder, DIRECTORY: directory }
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

const hour = 60 * 60
const age = (path: string, seconds: number) => {
  const at = Date.now() / 1000 - seconds
  utimesSync(path, at, at)
}

describe('[O60] the mark of a host that was killed', () => {
  test('[O60.3] counts for the time in which the host was killed, and is then ignored and removed', async () => {
    const { directory, folder, host } = await withoutRepository()
    const kill = await otherProcess(folder, directory)
    const one = host()
    const before = one.look(directory)
    expect(before.active).toBe(true)
    await kill()
    const after = one.look(directory)
    expect([after.active, wereActive(before, after), wereActive(after, one.look(directory))]).toEqual([
      false,
      true,
      false,
    ])
    const [mark = ''] = readdirSync(folder)
    age(join(folder, mark), hour - 60)
    one.look(directory)
    expect(readdirSync(folder)).toEqual([mark])
    age(join(folder, mark), hour + 60)
    one.look(directory)
    expect(readdirSync(folder)).toEqual([])
  })

  test('[O60.3] [O60.4] is ignored if its number belongs to another process now, or if the system was started again', async () => {
    const { directory, folder, host } = await withoutRepository()
    const [one, two] = [host(), host()]
    two.note(directory, 1)
    const [name = ''] = readdirSync(folder)
    const path = join(folder, name)
    const mark: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'))
    const activeWith = (change: object) => {
      writeFileSync(path, JSON.stringify({ ...mark, ...change }))
      return one.look(directory).active
    }
    expect(activeWith({})).toBe(true)
    expect(activeWith({ started: '1' })).toBe(false)
    expect(activeWith({ boot: 'another' })).toBe(false)
    // A host in a container, or on another machine, may run.
    expect(activeWith({ namespace: 'pid:[1]' })).toBe(true)
    expect(activeWith({ machine: 'another' })).toBe(true)
    age(path, 25 * hour)
    expect([one.look(directory).active, existsSync(path)]).toEqual([false, false])
  })
})

describe('[O60] a place that somebody else has filled', () => {
  test('[O60.5] never holds a host up, and says nothing', async () => {
    const { directory, marks, host } = await repository()
    const [one, two] = [host(), host()]
    two.note(directory, 1)
    const [name = ''] = readdirSync(marks)
    const valid = readFileSync(join(marks, name), 'utf8')
    const fake = (n: number) => join(marks, `host-${String(n).padStart(16, '0')}`)
    execFileSync('mkfifo', [fake(1)])
    writeFileSync(join(marks, 'elsewhere'), valid)
    symlinkSync(join(marks, 'elsewhere'), fake(2))
    symlinkSync('/dev/zero', fake(3))
    writeFileSync(fake(4), '')
    truncateSync(fake(4), 10 ** 12)
    mkdirSync(fake(5))
    for (const [i, text] of [
      '',
      'null',
      '[]',
      '{"version":1}',
      '{',
      valid.replace('"pid":', '"pid":-'),
    ].entries())
      writeFileSync(fake(10 + i), text)
    expect([...one.look(directory).notes.keys()]).toEqual([name])
    rmSync(join(marks, name))
    expect(one.look(directory)).toEqual({ active: false, notes: new Map() })
  })

  test('[O60.5] is neither read nor written if it is a link or no folder', async () => {
    for (const make of [
      (marks: string, elsewhere: string) => symlinkSync(elsewhere, marks),
      (marks: string) => symlinkSync('/nowhere/at/all', marks),
      (marks: string) => writeFileSync(marks, ''),
      (marks: string) => void execFileSync('mkfifo', [marks]),
    ]) {
      const { directory, marks, host } = await repository()
      const elsewhere = newFolder()
      make(marks, elsewhere)
      const [one, two] = [host(), host()]
      two.note(directory, 1)
      expect(one.look(directory)).toEqual({ active: false, notes: new Map() })
      expect(readdirSync(elsewhere)).toEqual([])
    }
  })

  test('[O60.5] and a mark in it are ignored if they belong to another user', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'not root')
    const { directory, marks, host } = await repository()
    mkdirSync(marks)
    chownSync(marks, 65534, 65534)
    const [one, two] = [host(), host()]
    two.note(directory, 1)
    expect([readdirSync(marks), one.look(directory).active]).toEqual([[], false])
    chownSync(marks, 0, 0)
    two.note(directory, 1)
    const [name = ''] = readdirSync(marks)
    chownSync(join(marks, name), 65534, 65534)
    expect(one.look(directory).active).toBe(false)
  })
})

test('[O60.2] [O60] a mark in a repository names no folder outside of it, and stays small', async () => {
  const { directory, marks, host } = await repository()
  const two = host()
  two.note(newFolder(), 1)
  for (let i = 0; i < 60; i++) {
    two.note(join(directory, `folder-${i}`), 1)
    two.note(join(directory, `folder-${i}`), 0)
  }
  const [name = ''] = readdirSync(marks)
  const { folders }: { folders: readonly (readonly [string])[] } = JSON.parse(
    readFileSync(join(marks, name), 'utf8'),
  )
  expect([folders.length, folders.every(([path]) => path.startsWith(directory))]).toEqual([50, true])
  expect(readdirSync(marks)).toEqual([name])
  const began = process.cpuUsage()
  for (let i = 0; i < 200; i++) {
    two.note(directory, i % 2)
    two.look(directory)
  }
  const { user, system } = process.cpuUsage(began)
  console.log(`${((user + system) / 200_000).toFixed(2)} ms of CPU for a note and a look with 50 folders`)
})
