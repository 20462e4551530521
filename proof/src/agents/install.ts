import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { nodePackage } from './program.ts'
import type { Recipe } from './recipe.ts'

/**
 * Returns the folder for installed agents, with one subfolder per agent. It is separate from the project's own
 * dependencies.
 */
export function cacheFolder({ XDG_CACHE_HOME }: NodeJS.ProcessEnv = process.env): string {
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'atrium-agents')
}

/** Installs exactly the version of the recipe, unless that version is already installed. Throws if npm fails. */
export async function install(
  recipe: Recipe,
  folder: string,
  log: (sentence: string) => void,
): Promise<void> {
  if (installed(recipe, folder) === recipe.version) return
  const { package: name, version, installFlags = [], packages = [], node } = recipe
  log(`installing ${name}@${version} in ${folder}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const quiet = ['--no-audit', '--no-fund', '--save-exact', '--loglevel', 'error']
  const [program, ...before] = npm()
  const others = [...packages, ...(node === undefined ? [] : [`${nodePackage()}@${node}`])]
  const args = [...before, 'install', ...quiet, ...installFlags, `${name}@${version}`, ...others]
  // The output of npm goes to stderr, like the progress of this program.
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 2, 2] })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`npm could not install ${name}@${version}`)
}

function installed({ package: name }: Recipe, folder: string): string | undefined {
  try {
    const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version
  } catch {
    return undefined
  }
}

/** Returns the command for npm: the npm that started this process, or else the one in the PATH. */
function npm(): readonly [string, ...string[]] {
  const path = process.env['npm_execpath'] ?? ''
  return path.endsWith('npm-cli.js') ? [process.execPath, path] : ['npm']
}
