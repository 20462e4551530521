import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { slowness } from '../../../host/test/load.ts'
import { trials } from '../../../protocol/test/search.ts'
import { bundle } from '../../test/bundle.ts'
import { sandbox } from '../../test/sandbox.ts'

// Writers in other processes that are killed, run out of space, or lack permissions.

const module = await bundle('src/files/files.ts')

test('[F-40c] a writer that is killed at random moments leaves one complete version', async () => {
  const { root } = sandbox()
  writeFileSync(`${root}/file`, version(0))
  const seen = new Set<number>()
  const least = trials(50, 12)
  let kills = 0
  // On a busy machine a version takes longer to write.
  const window = 25 * slowness()
  for (; kills < least || (seen.size <= 2 && kills < 500); kills++) {
    const child = start(root, writingForEver)
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, Math.random() * window))
    child.kill('SIGKILL')
    await once(child, 'exit')
    const text = readFileSync(`${root}/file`, 'utf8')
    const number = Number(text.slice(0, text.indexOf(' ')))
    expect(text === version(number), `after kill ${kills}`).toBe(true)
    seen.add(number)
  }
  const left = readdirSync(root).filter((name) => !['file', 'next'].includes(name))
  console.log(`${kills} kills, ${seen.size} versions seen, ${left.length} unfinished files left behind`)
  expect(left.filter((name) => !/^\.atrium-[0-9a-f]{16}\.tmp$/.test(name))).toEqual([])
  expect(seen.size).toBeGreaterThan(2)
})

test('[E4] [E4.4] concurrent appends of several processes are all kept', async () => {
  const { root } = sandbox()
  const who = ['a', 'b', 'c', 'd']
  const children = who.map((letter) => start(root, appending, { LETTER: letter }))
  expect(await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]))).toEqual([
    0, 0, 0, 0,
  ])
  const lines = readFileSync(`${root}/log`, 'utf8').trimEnd().split('\n')
  const expected = who.flatMap((letter) =>
    Array.from({ length: 50 }, (_, i) => `${i} ${letter.repeat(3000)}`),
  )
  expect(lines.toSorted()).toEqual(expected.toSorted())
})

test('[E4] [E4.4] an append that does not fit is undone and refused', () => {
  const { root } = sandbox()
  // `ulimit -f` counts blocks of 512 bytes: the limit is 20 KiB, and each append has 3 KiB.
  const { stdout } = spawnSync(
    'sh',
    ['-c', 'ulimit -f 40; exec "$0" --input-type=module -e "$1"', process.execPath, filling],
    {
      env: { ...process.env, MODULE: module, ROOT: root },
      encoding: 'utf8',
    },
  )
  const { size } = statSync(`${root}/log`)
  expect([size % 3072, size > 0, readdirSync(root)]).toEqual([0, true, ['log', 'old']])
  expect(readFileSync(`${root}/old`, 'utf8')).toBe('old')
  expect(stdout).toMatch(/^refused There is no space left on the disk\.\nrefused The file would be too large/)
})

test('[E2] [E4] errors of missing permissions name no path', () => {
  const { root } = sandbox()
  for (const name of ['sealed', 'secret']) writeFileSync(`${root}/${name}`, name)
  mkdirSync(`${root}/closed`)
  mkdirSync(`${root}/shut`)
  chmodSync(`${root}/sealed`, 0o444)
  chmodSync(`${root}/secret`, 0o000)
  chmodSync(`${root}/closed`, 0o555)
  chmodSync(`${root}/shut`, 0o000)
  // Permissions do not bind root, so the child runs as `nobody`.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  if ('uid' in nobody) {
    chmodSync(dirname(root), 0o755)
    for (const name of ['', '/sealed', '/secret', '/closed', '/shut'])
      chownSync(`${root}${name}`, 65534, 65534)
  }
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', asking], {
    env: { ...process.env, MODULE: module, ROOT: root },
    encoding: 'utf8',
    ...nobody,
  })
  expect([stdout.trimEnd().split('\n'), stderr]).toEqual([
    Array(9).fill('refused The system does not allow it.'),
    '',
  ])
  for (const name of ['closed', 'shut']) chmodSync(`${root}/${name}`, 0o755)
  expect(readFileSync(`${root}/sealed`, 'utf8')).toBe('sealed')
})

const version = (n: number) =>
  `${n} ${String.fromCodePoint(97 + (n % 26)).repeat(200_000 + (n % 7) * 30_000)}`

function start(root: string, program: string, more: object = {}) {
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, MODULE: module, ROOT: root, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const prelude = `
  const { nodeFiles } = await import(process.env.MODULE)
  const files = nodeFiles()
  const root = process.env.ROOT
  const at = (path) => ({ path: root + '/' + path, roots: [root] })
  const report = (operation) => operation.then(() => console.log('done'), (error) => console.log(error.reason + ' ' + error.message))
`

/** Replaces each version by the next: by writing, by a conditional write, by a move. */
const writingForEver = `${prelude}
  const version = ${version.toString()}
  let n = Number(new TextDecoder().decode(await files.read(at('file'), 1e6)).split(' ')[0])
  console.log('ready')
  for (;;) {
    const whole = Buffer.from(version(++n))
    if (n % 3 === 0) await files.write(at('file'), whole)
    else if (n % 3 === 1) await files.write(at('file'), whole, { mode: 'truncate', position: 0, ifMatch: (await files.stat(at('file'), true)).etag })
    else {
      await files.write(at('next'), whole)
      await files.change({ kind: 'move', from: at('next'), to: at('file'), failIfExists: false })
    }
  }
`

const appending = `${prelude}
  for (let i = 0; i < 50; i++)
    await files.write(at('log'), Buffer.from(i + ' ' + process.env.LETTER.repeat(3000) + '\\n'), { mode: 'append' })
`

const filling = `${prelude}
  process.on('SIGXFSZ', () => {})
  await files.write(at('old'), Buffer.from('old'))
  for (let going = true; going; )
    await files.write(at('log'), Buffer.alloc(3072, 1), { mode: 'append' }).catch(async (error) => {
      going = false
      await report(Promise.reject(error))
    })
  await report(files.write(at('old'), Buffer.alloc(30000)))
`

const asking = `${prelude}
  const x = Buffer.from('x')
  await report(files.read(at('secret'), 99))
  await report(files.write(at('sealed'), x))
  await report(files.write(at('sealed'), x, { mode: 'append' }))
  await report(files.write(at('closed/new'), x))
  await report(files.change({ kind: 'make', place: at('closed/new') }))
  await report(files.list(at('shut'), 99))
  await report(files.read(at('shut/x'), 99))
  await report(files.change({ kind: 'copy', from: at('secret'), to: at('copy'), failIfExists: true }))
  await report(files.change({ kind: 'move', from: at('sealed'), to: at('closed/x'), failIfExists: false }))
`
