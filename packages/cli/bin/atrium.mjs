#!/usr/bin/env node
import { createRequire } from 'node:module'

// Runs before any other module is loaded, so that no text from outside can reach a prototype by this name (S-18).
delete Object.prototype.__proto__

const { runBundle } = createRequire(import.meta.url)('./bundle.cjs')
if (!runBundle()) await import('../dist/main.js')
