import { register } from 'node:module'
import type { Patch } from './patch.ts'

// Plants the patches of `ATRIUM_PLANT` in a process that has `NODE_OPTIONS="--import …/plant/register.js"`. A command-line
// flag would not reach workers that are started with their own flags.
const patches = JSON.parse(process.env['ATRIUM_PLANT'] ?? '[]') as readonly Patch[]
register('./hooks.js', { parentURL: import.meta.url, data: patches })
