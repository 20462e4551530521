import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { withShadowGitDir } from '../git/shadow-git-dir.ts'
import type { IndexEntry } from './index-file.ts'
import type { Place } from './place.ts'
import type { CaptureTools } from './tools.ts'

/** Paths whose contents in the repository may differ from the bytes on the disk. */
export interface Converted {
  /** By a filter (such as LFS), an encoding or keywords. */
  readonly opaque: ReadonlySet<string>
  /** By their line ends only. */
  readonly lineEnds: ReadonlySet<string>
}

/** Whether anything may convert contents. `tracked`: whether the repository has lists of attributes of its own. */
export async function hasConversions(
  tools: Pick<CaptureTools, 'settings'>,
  place: Place,
  tracked: boolean,
): Promise<boolean> {
  return tracked || (await convertsLineEnds(tools, place)) || (await hasAttributes(tools, place))
}

/** Asks git for the attributes of the paths, if there is any source of attributes. */
export async function convertedPaths(
  tools: CaptureTools,
  place: Place,
  entries: readonly IndexEntry[],
): Promise<Converted> {
  const none: Converted = { opaque: new Set(), lineEnds: new Set() }
  const { repository } = place
  const tracked = entries.some(({ path }) => path.includes('.gitattributes'))
  if (!repository || !(await hasConversions(tools, place, tracked))) return none
  const paths = entries.map(({ path }) => path.toString('utf8'))
  const lineEnds = new Set<string>((await convertsLineEnds(tools, place)) ? paths : [])
  const { attributesFile } = await tools.settings()
  return withShadowGitDir(tools.git, repository, tools.user, async ({ tryRun }) => {
    const args = ['-c', `core.attributesFile=${attributesFile}`, 'check-attr', '-z', '--stdin', ...attributes]
    const { stdout, exitCode } = await tryRun(args, paths.map((path) => `${path}\0`).join(''))
    if (exitCode !== 0) return { ...none, opaque: new Set(paths) }
    return sorted(stdout.toString('utf8').split('\0'), lineEnds)
  })
}

async function convertsLineEnds(
  { settings }: Pick<CaptureTools, 'settings'>,
  { autocrlf }: Place,
): Promise<boolean> {
  return /^(?:true|input)$/i.test(autocrlf === '' ? (await settings()).autocrlf : autocrlf)
}

/** Whether there are attributes outside the repository's files, or in its root. */
async function hasAttributes(
  { settings }: Pick<CaptureTools, 'settings'>,
  { root, repository }: Place,
): Promise<boolean> {
  if (!repository) return false
  const { attributesFile } = await settings()
  const inRepository = join(repository.commonDir, 'info', 'attributes')
  const files = [attributesFile, inRepository, join(root, '.gitattributes')]
  const found = await Promise.all(files.map((path) => stat(path).catch(() => undefined)))
  return found.some((each) => each?.isFile())
}

/** A record has three fields: path, attribute, value. */
function sorted(fields: readonly string[], lineEnds: Set<string>): Converted {
  const opaque = new Set<string>()
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const value = fields[i + 2] ?? ''
    if (value === 'unspecified' || value === 'unset') continue
    const [path = '', attribute = ''] = [fields[i], fields[i + 1]]
    if (['text', 'eol', 'crlf'].includes(attribute)) lineEnds.add(path)
    else opaque.add(path)
  }
  return { opaque, lineEnds }
}

const attributes = ['filter', 'ident', 'working-tree-encoding', 'text', 'eol', 'crlf']
