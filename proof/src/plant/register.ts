import { register } from 'node:module'
import type { Patch } from './patch.ts'

// `NODE_OPTIONS="--import …/plant/register.js"` with patches in the environment: a process with planted faults. As a flag
// of the command it would not reach workers that are started with flags of their own.
const patches = JSON.parse(process.env['ATRIUM_PLANT'] ?? '[]') as readonly Patch[]
register('./hooks.js', { parentURL: import.meta.url, data: patches })
