import { literalUris, windowsNames } from './accepted-uris.ts'
import { refusedUris } from './refused-uris.ts'

/** A URI that an attacker could send in the hope that it is misread, with the danger and the expected verdict. */
export interface HostileUri {
  readonly uri: string
  readonly why: string
  /**
   * `refused`: refused on all systems. `windows`: refused on Windows, and an ordinary name on other systems. `path`:
   * accepted as this path, which is inside `hostileRoot` and does not exist.
   */
  readonly verdict: 'refused' | 'windows' | { readonly path: string }
}

/** The directory that contains all accepted paths of the corpus. */
export const hostileRoot = '/work'

export const hostileUris: readonly HostileUri[] = [
  ...refusedUris.flatMap(({ why, uris }) => uris.map((uri) => ({ uri, why, verdict: 'refused' as const }))),
  ...literalUris.map(({ uri, path, why }) => ({ uri, why, verdict: { path } })),
  ...windowsNames.flatMap(({ why, names }) =>
    names.map((name) => ({ uri: `file://${hostileRoot}/${name}`, why, verdict: 'windows' as const })),
  ),
]
