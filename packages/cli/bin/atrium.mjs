#!/usr/bin/env node
import { readFileSync, statSync } from 'node:fs'

// Before anything else is loaded: no text from outside can reach a prototype by this name (S-18).
delete Object.prototype.__proto__

const bundle = new URL('../dist/bundle/', import.meta.url)
await import(bundled() ? '../dist/bundle/main.js' : '../dist/main.js')

/**
 * Whether the bundle of the compiled files is there and up to date. ATRIUM_UNBUNDLED=1 runs the compiled files one by one, for
 * tools that change single files while they are loaded.
 */
function bundled() {
  if (process.env.ATRIUM_UNBUNDLED === '1') return false
  const built = timeOf('main.js')
  return inputs().every((file) => timeOf(file) <= built)
}

/** Files that are newer than a stale bundle. A published package has no such list, and its bundle is never stale. */
function inputs() {
  try {
    return JSON.parse(readFileSync(new URL('inputs.json', bundle), 'utf8'))
  } catch {
    return ['main.js']
  }
}

/** Not a number where there is no such file, which is neither older nor newer than any other. */
function timeOf(file) {
  return statSync(new URL(file, bundle), { throwIfNoEntry: false })?.mtimeMs ?? NaN
}
