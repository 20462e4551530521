import type { LimitValues } from '@atrium/protocol/limits'
import { rootUri } from '@atrium/protocol/uri'
import { FakeFiles } from './fake-files.ts'
import { testHost } from './test-host.ts'
import type { Client, Machine } from './test-host.ts'

/** The directory of the session that `hostWithFiles` creates. */
export const w = 'file:///w'

/** Starts a host with some files, and connects Ann, who has a session. */
export async function hostWithFiles(given: Partial<LimitValues> = {}, more: Machine = {}) {
  const files = new FakeFiles()
  files.put('/w/a.txt', 'hello\n')
  files.put('/home/dev/notes.md', '# notes')
  files.folders.add('/home/dev/src')
  const all = await testHost({
    machine: { files, defaultDirectory: 'file:///home/dev', ...more },
    limits: given,
  })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: 's:/1', workingDirectories: [w] })
  return { all, ann, files }
}

export const grant = (client: Client, grants: unknown) =>
  client.echo(client.dispatch(rootUri, { type: 'root/configChanged', config: { 'atrium.grants': grants } }))
