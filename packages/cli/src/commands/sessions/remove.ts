import { createInterface } from 'node:readline/promises'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Activity, activityOf } from '@atrium/protocol/status'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { findSessions, shortName } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { output, sanitize } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly yes?: boolean
}

/** `atrium rm`: deletes sessions with all their turns. Asks first, because nothing brings them back. */
export function remove(names: readonly string[], flags: Flags): Promise<void> {
  const { report, note, interactive } = output(flags)
  return withClient(flags, async (client) => {
    const sessions = await findSessions(client, names)
    if (!flags.yes && !interactive)
      throw new CommandError('Nothing brings a deleted session back. To delete it, add: --yes', exits.usage)
    for (const session of sessions) {
      const { resource } = session
      if (!flags.yes && !(await agreed(session))) {
        note(`${shortName(resource)} is kept.`)
        continue
      }
      await client.ask('disposeSession', { channel: resource })
      report({ session: resource, removed: true }, () => `${shortName(resource)} is deleted.`)
    }
  })
}

/** Asks the user whether to delete a session. Resolves with true if the answer is y or yes. */
async function agreed({ resource, title, status }: SessionSummary): Promise<boolean> {
  const busy = activityOf(status) === Activity.InProgress ? ' An agent works in it.' : ''
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  // At the end of the input, or at Ctrl-C, nothing is deleted.
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')))
  const question = `Delete ${shortName(resource)} "${sanitize(title)}" with all its turns?${busy} [y/N] `
  const answer = await Promise.race([prompt.question(question), closed])
  prompt.close()
  return /^y(es)?$/i.test(answer.trim())
}
