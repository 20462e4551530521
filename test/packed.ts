import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './files.ts'

export interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly repository?: { readonly url: string; readonly directory?: string }
  readonly exports?: {
    readonly [door: string]: string | { readonly types: string; readonly default: string }
  }
  readonly dependencies?: { readonly [name: string]: string }
}

/** A package as it would be published. */
export interface Packed {
  /** The name of its folder in `packages`. */
  readonly folder: string
  readonly manifest: Manifest
  /** The paths of the files in its tarball. */
  readonly files: readonly string[]
  /** A folder with these files and no others. */
  readonly place: string
}

export function manifestOf(folder: string): Manifest {
  // The cast names the parts of npm's file that the tests read.
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

/**
 * Puts the files of each package that can be published into `node_modules` of a folder, as an installation would. The packages
 * of others are linked from this checkout, so that nothing is downloaded. No script runs: a script would make the bundle
 * again, which other tests are running.
 */
export function installPacked(folder: string): readonly Packed[] {
  const modules = join(folder, 'node_modules')
  linkForeign(modules)
  const folders = readdirSync(join(root, 'packages')).filter(
    (name) => !manifestOf(`packages/${name}`).private,
  )
  const workspaces = folders.flatMap((name) => ['--workspace', `packages/${name}`])
  const { stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--dry-run', '--json', '--ignore-scripts', ...workspaces],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  )
  if (stdout === '') throw new Error(`npm pack failed: ${stderr}`)
  // The cast names the parts of npm's answer that are read here.
  const answers = JSON.parse(stdout) as readonly {
    readonly name: string
    readonly files: readonly { readonly path: string }[]
  }[]
  return folders.map((name) => {
    const manifest = manifestOf(`packages/${name}`)
    const files = answers.find((each) => each.name === manifest.name)?.files.map(({ path }) => path) ?? []
    const place = join(modules, manifest.name)
    for (const path of files) {
      mkdirSync(dirname(join(place, path)), { recursive: true })
      cpSync(join(root, 'packages', name, path), join(place, path))
    }
    return { folder: name, manifest, files, place }
  })
}

function linkForeign(modules: string): void {
  const ours = new Set(readdirSync(join(root, 'packages')).map((name) => manifestOf(`packages/${name}`).name))
  for (const name of namesIn(join(root, 'node_modules'))) {
    if (ours.has(name)) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
}

/** The names of the packages in a `node_modules`. */
function namesIn(modules: string): readonly string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
    )
}
