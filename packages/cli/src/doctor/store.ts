import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openSqlite } from '@atrium/adapters/store/sqlite'
import { lossIn } from '../serve/store.ts'
import { sentenceOf } from '../terminal/exit.ts'
import { fail, ok, warn } from './finding.ts'
import type { Finding } from './finding.ts'

export const lossRemedy =
  'restore a newer backup if there is one; what was left of the journal is beside the store as atrium-lost-*.db-wal'

/** Checks the store of a host that does not run. Nothing of it is changed. A folder without a store has nothing to check. */
export async function storeFindings(data: string): Promise<readonly Finding[]> {
  const path = join(data, 'atrium.db')
  if (!existsSync(path)) return []
  try {
    const notices: Finding[] = []
    const notice = (sentence: string) =>
      void notices.push(warn('store', sentence, 'nothing: compare the newest turns with what you remember'))
    const store = await openSqlite(data, { readOnly: true, notice })
    const loss = lossIn(data, store)
    await store.log.close()
    return [loss === undefined ? ok('store', path) : warn('store', loss, lossRemedy), ...notices]
  } catch (error) {
    return [fail('store', sentenceOf(error), 'restore a backup of the folder, or name another with --data')]
  }
}
