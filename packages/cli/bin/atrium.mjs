#!/usr/bin/env node
// Before anything else is loaded: no text from outside can reach a prototype by this name (S-18).
delete Object.prototype.__proto__
await import('../dist/main.js')
