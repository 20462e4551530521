import { isPostgresUrl, postgresPlace } from '../postgres/postgres.ts'
import { postgresSide } from './postgres-side.ts'
import { sqliteSide } from './sqlite-side.ts'
import type { Side } from './table.ts'

export { postgresSide, sqliteSide }

/**
 * Opens a store that is moved: the one in a database if the text is a URL, else the one in a folder. Meanwhile no host can use
 * it.
 */
export async function openSide(
  text: string,
  how: 'source' | 'target',
  env: { readonly [name: string]: string | undefined },
): Promise<Side> {
  return isPostgresUrl(text) ? postgresSide(await postgresPlace(text, env), how) : sqliteSide(text, how)
}
