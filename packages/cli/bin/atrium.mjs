#!/usr/bin/env node
import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Before anything else is loaded: no text from outside can reach a prototype by this name (S-18).
delete Object.prototype.__proto__

const own = (path) => fileURLToPath(new URL(path, import.meta.url))
const entry = bundled()
if (entry === undefined) await import('../dist/main.js')
else (await import('./bundle.mjs')).run(own('../dist/bundle'), entry)

/**
 * The entry of the bundle, where there is one that is up to date. ATRIUM_UNBUNDLED=1 runs the compiled files one by one, for tools
 * that change single files while they are loaded.
 */
function bundled() {
  const file = own('../dist/bundle/bundle.json')
  if (process.env.ATRIUM_UNBUNDLED === '1' || !existsSync(file)) return undefined
  const { entry, inputs } = JSON.parse(readFileSync(file, 'utf8'))
  // A published package has no sources, and its bundle is never stale.
  if (!existsSync(own('../src'))) return entry
  const built = statSync(file).mtimeMs
  const isOlder = (input) => statSync(own(`../${input}`), { throwIfNoEntry: false })?.mtimeMs <= built
  return inputs.every(isOlder) ? entry : undefined
}
