import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HostProcess } from '../packages/cli/test/host-process.ts'
import { onlyGuide } from '../packages/cli/test/only-guide.ts'
import { root } from './files.ts'
import { installPacked, manifestOf } from './packed.ts'
import type { Packed } from './packed.ts'

const names = readdirSync(join(root, 'packages')).filter((name) => !manifestOf(`packages/${name}`).private)
const folder = mkdtempSync(join(tmpdir(), 'atrium-packages-'))
let all: readonly Packed[] = []
beforeAll(() => {
  all = installPacked(folder)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function packed(name: string): Packed {
  const found = all.find((each) => each.folder === name)
  if (!found) throw new Error(`${name} is not packed`)
  return found
}

const textOf = ({ place }: Packed, path: string) => readFileSync(join(place, path), 'utf8')

describe.each(names)('[A8] the package %s', (name) => {
  test('has a README, the licence, and no tests, build info or sources', () => {
    const { files, place } = packed(name)
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']))
    expect(textOf(packed(name), 'LICENSE')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'))
    const strange = files.filter(
      (path) =>
        /tsbuildinfo|\.(?:test|contract)\.|\.d\.ts\.map$|(?:^|\/)(?:test|cache)\//.test(path) ||
        (path.endsWith('.ts') && !path.endsWith('.d.ts')),
    )
    expect(strange).toEqual([])
    expect(existsSync(join(place, 'node_modules'))).toBe(false)
  })

  test('[A8.1] has a source map beside each compiled file, with the sources in it', () => {
    const { files } = packed(name)
    const maps = files.filter((path) => path.endsWith('.map'))
    expect(maps.length).toBeGreaterThan(10)
    const bare = maps.filter((path) => {
      // The cast names the parts of a source map.
      const map = JSON.parse(textOf(packed(name), path)) as {
        readonly sources: readonly string[]
        readonly sourcesContent?: readonly (string | null)[]
      }
      return map.sources.some((_, i) => typeof map.sourcesContent?.[i] !== 'string')
    })
    expect(bare).toEqual([])
    // The runtime of the bundler has no source. The web page is built without source maps.
    const compiled = files.filter(
      (path) => /^dist\/(?!page\/).*\.c?js$/.test(path) && !/rolldown-runtime/.test(path),
    )
    expect(compiled.filter((path) => !files.includes(`${path}.map`))).toEqual([])
  })

  test('names the repository as the root does, and its folder in it', () => {
    const { repository } = packed(name).manifest
    expect(repository).toEqual({ ...manifestOf('').repository, directory: `packages/${name}` })
  })

  test('[A8.1] has no problem that publint finds', async () => {
    const { messages } = await publint({ pkgDir: packed(name).place, pack: false, level: 'suggestion' })
    expect(messages).toEqual([])
  })

  test('has a README whose table lists its doors', () => {
    const { manifest } = packed(name)
    const rows = [...textOf(packed(name), 'README.md').matchAll(/^\| `([^`]+)`/gm)].map(([, door]) => door)
    const doors = Object.keys(manifest.exports ?? {}).map((door) => `${manifest.name}${door.slice(1)}`)
    if (manifest.exports) expect(rows.toSorted()).toEqual(doors.toSorted())
    else expect(rows).toContain('atrium')
  })
})

test('[A8] [A4] the program in the README of each package prints what the README says, with the packed files alone', async () => {
  const home = mkdtempSync(join(tmpdir(), 'atrium-packages-home-'))
  const host = await HostProcess.start(home)
  onTestFinished(() => host.kill())
  const token = readFileSync(join(home, 'data', 'token'), 'utf8').trim()
  const withPort = (text: string) => text.replaceAll(/(127\.0\.0\.1:)\d+/g, '$1PORT')
  for (const each of all.filter(({ manifest }) => manifest.exports)) {
    const readme = textOf(each, 'README.md')
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
    const [, expected = ''] = /```text\n([\s\S]*?)```/.exec(readme) ?? []
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ATRIUM_URL: host.url, ATRIUM_TOKEN: token },
    })
    expect({ name: each.folder, stdout: withPort(stdout), stderr }).toEqual({
      name: each.folder,
      stdout: withPort(expected),
      stderr: '',
    })
  }
})

describe('[A8.2] the package of the command', () => {
  test('needs no other package of this repository', () => {
    const { manifest } = packed('cli')
    const ours = all.map((each) => each.manifest.name)
    expect(Object.keys(manifest.dependencies ?? {}).filter((name) => ours.includes(name))).toEqual([])
  })

  test('has the licences of the packages whose code is in its bundle', () => {
    const each = packed('cli')
    const text = textOf(each, 'dist/bundle/third-party-licences.txt')
    const named = new Set([...text.matchAll(/^(\S+) \d+\.\d+\.\d+\S* \(.+\)$/gm)].map(([, name]) => name))
    const sources = each.files
      .filter((path) => path.endsWith('.cjs.map'))
      .flatMap((path) => (JSON.parse(textOf(each, path)) as { sources: readonly string[] }).sources)
    const used = sources.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
    expect(named.size).toBeGreaterThan(10)
    expect([...new Set(used)].filter((name) => !named.has(name))).toEqual([])
  })

  test('answers in an empty folder with an empty home, from the packed files alone', () => {
    const work = mkdtempSync(join(folder, 'work-'))
    const [empty, home] = [join(work, 'empty'), join(work, 'home')]
    mkdirSync(empty)
    mkdirSync(home)
    const bin = join(packed('cli').place, 'bin', 'atrium.mjs')
    expect(relative(folder, bin).startsWith('node_modules')).toBe(true)
    const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: process.env['TMPDIR'], ...onlyGuide() }
    const atrium = (...args: readonly string[]) =>
      spawnSync(process.execPath, [bin, ...args], { cwd: empty, env, encoding: 'utf8' })
    onTestFinished(() => void atrium('stop'))
    const { status, stdout, stderr } = atrium('say hello')
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: 'hello\n' })
    expect(readdirSync(empty)).toEqual([])
  })
})
