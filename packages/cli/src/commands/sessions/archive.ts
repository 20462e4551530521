import { assertAccepted } from '../../link/dispatch.ts'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { findSessions, shortName } from '../../session/find.ts'
import { output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

interface Flags extends HostOptions, OutputOptions {
  readonly undo?: boolean
}

/** `atrium archive`: hides sessions from the list, or shows them again. */
export function archive(names: readonly string[], flags: Flags): Promise<void> {
  const { report } = output(flags)
  const isArchived = flags.undo !== true
  return withClient(flags, async (client) => {
    for (const { resource } of await findSessions(client, names)) {
      const session = client.subscribe('session', resource)
      await session.ready()
      assertAccepted(await session.dispatch({ type: 'session/isArchivedChanged', isArchived }))
      session.release()
      const done = isArchived ? 'is archived; see it with: atrium ls --all' : 'is in the list again.'
      report({ session: resource, isArchived }, () => `${shortName(resource)} ${done}`)
    }
  })
}
