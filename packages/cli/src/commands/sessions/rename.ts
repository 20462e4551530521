import { assertAccepted } from '../../link/dispatch.ts'
import type { HostOptions } from '../../link/connect.ts'
import { withClient } from '../../link/with-client.ts'
import { findSessions } from '../../session/find.ts'
import { CommandError, exits } from '../../terminal/exit.ts'
import { output } from '../../terminal/output.ts'
import type { OutputOptions } from '../../terminal/output.ts'

/** `atrium rename`: gives a session another title. */
export function rename(
  name: string,
  words: readonly string[],
  flags: HostOptions & OutputOptions,
): Promise<void> {
  const { report } = output(flags)
  const title = words.join(' ').trim()
  if (title === '') throw new CommandError('The title is empty.', exits.usage)
  return withClient(flags, async (client) => {
    for (const { resource } of await findSessions(client, [name])) {
      const session = client.subscribe('session', resource)
      await session.ready()
      assertAccepted(await session.dispatch({ type: 'session/titleChanged', title }))
      report({ session: resource, title }, () => 'Renamed.')
    }
  })
}
