import { register } from 'node:module'
import type { Patch } from './patch.ts'

// `node --import …/plant/register.js` with patches in the environment: a process with planted faults.
const patches = JSON.parse(process.env['ATRIUM_PLANT'] ?? '[]') as readonly Patch[]
register('./hooks.js', { parentURL: import.meta.url, data: patches })
