import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** A folder with VS Code's web workbench and what drives it. `docs/vscode.md` says how to make one. */
export interface Lab {
  /** Entry point of the workbench's server. */
  readonly server: string
  /** The Node that the native modules of the server are built for. */
  readonly node: string
  /** The `package.json` of `playwright-core`, from which the package is loaded. */
  readonly playwright: string
  readonly chromium: string
}

/** The environment variable that names the folder. */
export const labVariable = 'ATRIUM_VSCODE_LAB'

/** Finds the workbench. Returns undefined if no folder is named, and throws if the named one lacks something. */
export function findLab(env: Readonly<Record<string, string | undefined>>): Lab | undefined {
  const folder = env[labVariable]
  if (folder === undefined || folder === '') return undefined
  const lab: Lab = {
    server: join(folder, 'cs', 'lib', 'vscode', 'out', 'server-main.js'),
    node: join(folder, 'node24', 'node_modules', '.bin', 'node'),
    playwright: join(folder, 'pw', 'node_modules', 'playwright-core', 'package.json'),
    chromium: env['CHROMIUM'] ?? '/usr/bin/chromium',
  }
  const missing = Object.values(lab).find((path: string) => !existsSync(path))
  if (missing !== undefined)
    throw new Error(`${labVariable} names ${folder}, but ${missing} does not exist; see docs/vscode.md`)
  return lab
}
