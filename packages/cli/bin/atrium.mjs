#!/usr/bin/env node
import { createRequire } from 'node:module'

// This line runs before any other module is loaded. After it, no key `__proto__` in foreign data can reach a prototype
// (S-18).
delete Object.prototype.__proto__

const { runBundle } = createRequire(import.meta.url)('./bundle.cjs')
if (!runBundle()) await import('../dist/main.js')
