import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { withShadowGitDir } from '../git/shadow-git-dir.ts'
import type { Place } from './place.ts'
import type { CaptureTools } from './tools.ts'

/** Paths whose contents in the repository may differ from the bytes on the disk. */
export interface Converted {
  /**
   * Paths whose contents git may convert in any way: by a filter (such as LFS), to another encoding, or by replacing
   * keywords (`ident`).
   */
  readonly opaque: ReadonlySet<string>
  /** Paths whose line ends git may convert. */
  readonly lineEnds: ReadonlySet<string>
  /** Paths in `lineEnds` whose lines end with CRLF after a checkout. */
  readonly crlf: ReadonlySet<string>
}

/** Whether anything may convert contents. `tracked`: whether the repository has `.gitattributes` files. */
export async function hasConversions(
  tools: Pick<CaptureTools, 'settings'>,
  place: Place,
  tracked: boolean,
): Promise<boolean> {
  return tracked || (await lineEndsOf(tools, place)).all || (await hasAttributes(tools, place))
}

/**
 * Asks git for the attributes of the paths, and returns those that it may convert. If git fails, all paths are
 * opaque.
 */
export async function convertedPaths(
  tools: CaptureTools,
  place: Place,
  paths: readonly string[],
): Promise<Converted> {
  const none: Converted = { opaque: new Set(), lineEnds: new Set(), crlf: new Set() }
  const { repository } = place
  if (!repository || paths.length === 0) return none
  const lineEnds = await lineEndsOf(tools, place)
  const { attributesFile } = await tools.settings()
  return withShadowGitDir(tools.git, repository, tools.user, async ({ tryRun }) => {
    const args = ['-c', `core.attributesFile=${attributesFile}`, 'check-attr', '-z', '--stdin', ...attributes]
    const { stdout, exitCode } = await tryRun(args, paths.map((path) => `${path}\0`).join(''))
    if (exitCode !== 0) return { ...none, opaque: new Set(paths) }
    return sorted(stdout.toString('utf8').split('\0'), lineEnds)
  })
}

/** What the settings say about line ends. */
interface LineEnds {
  /** Whether the line ends of all text files are converted. */
  readonly all: boolean
  /** Whether a checkout writes CRLF if the attributes of a file say nothing else. */
  readonly crlf: boolean
}

async function lineEndsOf(
  { settings }: Pick<CaptureTools, 'settings'>,
  place: Pick<Place, 'autocrlf' | 'eol'>,
): Promise<LineEnds> {
  const user = await settings()
  const autocrlf = (place.autocrlf === '' ? user.autocrlf : place.autocrlf).toLowerCase()
  const eol = (place.eol === '' ? user.eol : place.eol).toLowerCase()
  // The setting `input` converts only what is put into the repository.
  return {
    all: autocrlf === 'true' || autocrlf === 'input',
    crlf: autocrlf === 'true' || (autocrlf !== 'input' && eol === 'crlf'),
  }
}

/** Whether there is a file with git attributes outside the working tree, or in its root. */
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

/**
 * Sorts paths by their conversions. `fields` is the output of git: three fields (path, attribute, value) for each
 * path and each attribute.
 */
function sorted(fields: readonly string[], settings: LineEnds): Converted {
  const [opaque, lineEnds, crlf] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const width = 3 * attributes.length
  for (let i = 0; i + width < fields.length; i += width) {
    const path = fields[i] ?? ''
    const [filter, ident, encoding, text = '', eol = '', old = ''] = attributes.map(
      (_, at) => fields[i + at * 3 + 2] ?? 'unspecified',
    )
    const says = (value: string | undefined) => value !== 'unspecified' && value !== 'unset'
    if (says(filter) || says(ident) || says(encoding)) opaque.add(path)
    if (settings.all || says(text) || says(eol) || says(old)) lineEnds.add(path)
    // `crlf` is the older name of the attribute `text`.
    const kind = text === 'unspecified' ? old : text
    const isText = kind === 'unspecified' ? settings.all || says(eol) : kind !== 'unset'
    const byDefault = settings.crlf && eol !== 'lf' && kind !== 'input'
    if (isText && (eol === 'crlf' || byDefault)) crlf.add(path)
  }
  return { opaque, lineEnds, crlf }
}

const attributes = ['filter', 'ident', 'working-tree-encoding', 'text', 'eol', 'crlf']
