import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetFile } from '@atrium/protocol/changeset/state'
import type { FileEdit } from '@atrium/protocol/common/content'
import { AhpError } from '@atrium/protocol/errors'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { diffLines } from '../../render/diff.ts'
import { changesetOf, pathIn, turnNumber } from '../../session/changes.ts'
import { findTarget } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { Output, OutputOptions, Style } from '../../terminal/output.ts'

interface DiffFlags extends HostOptions, OutputOptions {
  readonly turn?: string
  readonly uncommitted?: boolean
  readonly branch?: boolean
  readonly stat?: boolean
}

/** `atrium diff`: shows the changes of a session, of one of its turns, or of its working directory. */
export function diff(session: string | undefined, flags: DiffFlags): Promise<void> {
  const scope = scopeOf(flags)
  return withClient(flags, async (client) => {
    const out = output(flags)
    const target = await findTarget(client, session ?? 'last')
    const { state, folders } = await changesetOf(client, target, scope)
    if (out.json) return state.files.forEach((file) => out.printJson(documentOf(file, folders)))
    if (state.files.length === 0) return out.note('There are no changes.')
    for (const file of state.files) {
      const text = flags.stat
        ? statLine(file, folders, out)
        : await fileText(client, file, folders, out.style)
      out.print({}, () => text)
    }
  })
}

function scopeOf({ turn, uncommitted, branch }: DiffFlags) {
  if ([turn !== undefined, uncommitted, branch].filter(Boolean).length > 1)
    throw new CommandError(
      '--turn, --uncommitted and --branch exclude each other; leave all but one out.',
      exits.usage,
    )
  if (turn !== undefined) return turnNumber(turn)
  return uncommitted ? 'uncommitted' : branch ? 'branch' : 'session'
}

/** Returns the changes of a file as a diff, or why it cannot be shown. */
export async function fileText(
  client: Client,
  file: ChangesetFile,
  folders: readonly Uri[],
  style: Style,
): Promise<string> {
  const { edit } = file
  const path = pathIn(file, folders)
  const omitted = omissionOf(file)
  if (omitted !== undefined) return `  ${onOneLine(`${path} (not shown: ${omitted})`)}`
  const [before, after] = await Promise.all([contentOf(client, edit.before), contentOf(client, edit.after)])
  if (before === null || after === null)
    return `  ${onOneLine(path)} (not shown: it is not a text, or too large)`
  const change = {
    path,
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
  }
  return diffLines(change, style).join('\n')
}

/**
 * The text of one side of a change. Undefined if this side has no file, and null if its content is no text or cannot
 * be read.
 */
async function contentOf(client: Client, side: FileEdit['before']): Promise<string | undefined | null> {
  if (!side) return undefined
  try {
    const { data, encoding } = await client.ask('resourceRead', { uri: side.content.uri })
    return encoding === 'utf-8' ? data : null
  } catch (error) {
    if (error instanceof AhpError) return null
    throw error
  }
}

/** Says why a content of a file was not recorded. Undefined if it was. */
function omissionOf({ _meta }: ChangesetFile): string | undefined {
  const about = _meta?.['x-atrium']
  const reason = typeof about === 'object' && about !== null && 'omitted' in about ? about.omitted : undefined
  return typeof reason === 'string' ? reason : undefined
}

function statLine(file: ChangesetFile, folders: readonly Uri[], { style }: Output): string {
  const omitted = omissionOf(file)
  if (omitted !== undefined) return `  ${onOneLine(`${pathIn(file, folders)}  ${omitted}`)}`
  const { added = 0, removed = 0 } = file.edit.diff ?? {}
  return `  ${onOneLine(pathIn(file, folders))}  ${style.green(`+${added}`)} ${style.red(`-${removed}`)}`
}

function documentOf(file: ChangesetFile, folders: readonly Uri[]): object {
  const { edit, reviewed = false } = file
  const omitted = omissionOf(file)
  return { path: pathIn(file, folders), ...edit, reviewed, ...(omitted !== undefined && { omitted }) }
}
