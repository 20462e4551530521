import { connect } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { allSessions, shortNames } from '../session/find.ts'
import { onOneLine, output } from '../terminal/output.ts'

/** `atrium __names`: prints the sessions for shell completion, each as its name, a tab, and its title. */
export async function names(flags: HostOptions): Promise<void> {
  const client = await connect(flags)
  const sessions = await allSessions(client)
  client.close()
  const short = shortNames(sessions.map(({ resource }) => resource))
  const lines = sessions.map(({ resource, title }) => [short.get(resource) ?? '', onOneLine(title)] as const)
  // A name with other characters is left out, because the shell could execute it.
  const safe = lines.filter(([name]) => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
  const all = [['last', 'the last modified session'], ...safe]
  output({}).print({}, () => all.map((each) => each.join('\t')).join('\n'))
}
