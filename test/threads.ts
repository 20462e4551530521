import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const sources = fileURLToPath(new URL('../packages/adapters/src', import.meta.url))
const target = fileURLToPath(new URL('../packages/adapters/dist/threads', import.meta.url))
const mark = 'ATRIUM_TEST_THREADS'

/**
 * Bundles the entries of threads from their sources, once in a test run, before its first worker starts: Node starts no thread from
 * TypeScript, and a compiled file could be stale. `newThread` (`process/thread.ts`) starts these bundles.
 */
export default async function setUp(): Promise<void> {
  // Vitest calls this function for each project of its configuration.
  if (process.env[mark] !== undefined) return
  process.env[mark] = target
  const entries = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  await Promise.all(entries.filter((path) => /(?:^|[/\\-])worker\.ts$/.test(path)).map(bundle))
}

/** Each entry is bundled by itself, so that it is one file. */
async function bundle(entry: string): Promise<void> {
  const build = await rolldown({
    input: join(sources, entry),
    platform: 'node',
    // The first package has a native part beside its own files. The others are optional for `pg`.
    external: ['@photostructure/sqlite', 'pg-native', 'pg-cloudflare'],
  })
  const { output } = await build.generate({ format: 'cjs' })
  await build.close()
  const file = join(target, entry.replace(/ts$/, 'cjs'))
  mkdirSync(dirname(file), { recursive: true })
  // Written in one step, because another test run may read it.
  writeFileSync(`${file}.${process.pid}`, output[0].code)
  renameSync(`${file}.${process.pid}`, file)
}
