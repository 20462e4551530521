/** The protocol versions that this package supports, oldest first. The last one is the native version. */
export const versions = [
  '0.1.0',
  '0.2.0',
  '0.3.0',
  '0.4.0',
  '0.5.0',
  '0.5.1',
  '0.5.2',
  '0.6.0',
  '0.7.0',
  '0.8.0',
  '0.9.0',
  '1.0.0',
] as const
export type Version = (typeof versions)[number]

export const nativeVersion: Version = '1.0.0'

/** What has a version that added it: an action, a command or a notification. */
export interface Since {
  readonly since: Version
}

/** Says of the rows of a table which version added them. Rows that say so themselves keep their own. */
export function since<T extends { readonly [name: string]: object }>(
  version: Version,
  rows: T,
): { readonly [K in keyof T]: T[K] & Since } {
  const dated = Object.entries(rows).map(([name, row]) => [name, { since: version, ...row }])
  // `fromEntries` forgets the names of the rows, which are those of `rows`: hence the cast.
  return Object.fromEntries(dated) as { readonly [K in keyof T]: T[K] & Since }
}
