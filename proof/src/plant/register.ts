import { register } from 'node:module'
import type { Patch } from './patch.ts'

// Plants the patches of `ATRIUM_PLANT` in a process that is started with `--import …/plant/register.js`. The command has its patches
// in a bundle (`command.ts`).
const patches = JSON.parse(process.env['ATRIUM_PLANT'] ?? '[]') as readonly Patch[]
register('./hooks.js', { parentURL: import.meta.url, data: patches })
