import { namesIn } from './checkout.ts'

/** A version of a file: its mode and the id of its object, as git writes them. */
export interface FileVersion {
  readonly mode: string
  readonly object: string
}

/** A file that two trees have in different versions. */
export interface Difference {
  readonly path: string
  /** Absent: the first tree has no such file. */
  readonly from?: FileVersion
  /** Absent: the second tree has no such file. */
  readonly to?: FileVersion
}

/** Reads the output of `git diff-tree` and `git diff-index` with `--raw -z --no-renames --no-abbrev`. */
export function differencesIn(output: Buffer): readonly Difference[] {
  const fields = namesIn(output)
  const found: Difference[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = fields[i]?.slice(1).split(' ') ?? []
    const [from, to] = [version(oldMode, oldObject), version(newMode, newObject)]
    found.push({ path: fields[i + 1] ?? '', ...(from && { from }), ...(to && { to }) })
  }
  return found
}

function version(mode: string, object: string): FileVersion | undefined {
  return mode === '000000' ? undefined : { mode, object }
}

/** Returns entries in the form that `git update-index -z --index-info` reads. The mode 0 removes an entry. */
export function indexLines(entries: readonly (FileVersion & { readonly path: string })[]): string {
  return entries.map(({ path, mode, object }) => `${mode} ${object}\t${path}\0`).join('')
}
