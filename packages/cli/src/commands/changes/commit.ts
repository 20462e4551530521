import type { Client } from '@atrium/client/client'
import type { Uri } from '@atrium/protocol/channel'
import { AhpError, errorCodes } from '@atrium/protocol/errors'
import { fileUri } from '@atrium/protocol/file-uri'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { changesetOf, pathIn } from '../../session/changes.ts'
import type { FoundChangeset } from '../../session/changes.ts'
import { findTarget } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { onOneLine, output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface CommitFlags extends HostOptions, OutputOptions {
  readonly message?: string
}

/** What a host answers to `x-atrium/commit`. */
interface Committed {
  readonly message: string
  readonly commits?: readonly object[]
}

/**
 * `atrium commit`: commits uncommitted files of a session, as they are on the disk. Without files it commits what is staged, or
 * all files if nothing is staged.
 */
export function commit(
  session: string | undefined,
  files: readonly string[],
  flags: CommitFlags,
): Promise<void> {
  const { message } = flags
  if (message === undefined)
    throw new CommandError('A commit needs a message: -m "what has changed".', exits.usage)
  return withClient(flags, async (client) => {
    const out = output(flags)
    const found = await changesetOf(client, await findTarget(client, session ?? 'last'), 'uncommitted')
    const chosen = files.length === 0 ? {} : { files: files.map((path) => uriOf(found, path)) }
    const made = await ask(client, { channel: found.uri, message, ...chosen })
    out.report({ commits: made.commits ?? [] }, () => onOneLine(made.message))
  })
}

/** Sends the request to the host. AHP has no such command. */
async function ask(client: Client, params: object): Promise<Committed> {
  try {
    // The answer is not checked: a host of the same build answers in this shape.
    return (await client.ask('x-atrium/commit', params)) as Committed
  } catch (error) {
    if (!(error instanceof AhpError)) throw error
    if (error.code === errorCodes.MethodNotFound)
      throw new CommandError('This host cannot commit: its version is older.')
    throw new CommandError(/[.!?]$/.test(error.message) ? error.message : `${error.message}.`)
  }
}

/**
 * Returns the URI of a file. A path that the changeset does not list is not refused: the state of the changeset may be older
 * than the files, and the host knows the files as they are now.
 */
function uriOf({ state, folders: [folder = ''], folders }: FoundChangeset, path: string): Uri {
  const named = path.replace(/^\.\//, '')
  const shown = state.files.find((file) => pathIn(file, folders) === named)
  return shown?.id ?? `${folder.replace(/\/$/, '')}${fileUri(`/${named}`).slice('file://'.length)}`
}
