import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

// A temporary folder for each worker, so that no test sees the temporary files of a test that runs at the same time.
const own = `w${process.env['VITEST_POOL_ID'] ?? '0'}`
if (basename(tmpdir()) !== own) process.env['TMPDIR'] = join(tmpdir(), own)
mkdirSync(tmpdir(), { recursive: true, mode: 0o755 })
