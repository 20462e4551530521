#!/usr/bin/env node
import { createRequire } from 'node:module'

// Before anything else is loaded: no text from outside can reach a prototype by this name (S-18).
delete Object.prototype.__proto__

const { runBundle } = createRequire(import.meta.url)('./bundle.cjs')
if (!runBundle()) await import('../dist/main.js')
