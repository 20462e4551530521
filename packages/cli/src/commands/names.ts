import { reach } from '../link/connect.ts'
import type { Whereabouts } from '../link/connect.ts'
import { allSessions, shortNames } from '../session/find.ts'
import { onOneLine, voice } from '../terminal/output.ts'

/** `atrium __names`: for the shell that completes a session: its name, a tab, and its title. */
export async function names(flags: Whereabouts): Promise<void> {
  const client = await reach(flags)
  const sessions = await allSessions(client)
  client.close()
  const short = shortNames(sessions.map(({ resource }) => resource))
  const lines = sessions.map(({ resource, title }) => [short.get(resource) ?? '', onOneLine(title)] as const)
  // A shell may read other names as something else than a name.
  const safe = lines.filter(([name]) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
  const all = [['last', 'the one that changed last'], ...safe]
  voice({}).tell({}, () => all.map((each) => each.join('\t')).join('\n'))
}
