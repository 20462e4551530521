import type { Uri } from '@atrium/protocol/channel'
import type { ChangesetState } from '@atrium/protocol/changeset/state'
import type { Client } from '../test-host.ts'

/** Subscribes a client to a changeset, and waits until it is computed. */
export async function changeset(client: Client, uri: Uri): Promise<ChangesetState> {
  await client.ask('subscribe', { channel: uri })
  return untilChangeset(client, uri, ({ status }) => status === 'ready' || status === 'error')
}

/** Waits for a state of a changeset that the client follows. */
export async function untilChangeset(
  client: Client,
  uri: Uri,
  condition: (state: ChangesetState) => boolean,
): Promise<ChangesetState> {
  await client.until(() => condition(stateOf(client, uri)))
  return stateOf(client, uri)
}

export function stateOf(client: Client, uri: Uri): ChangesetState {
  return client.state(uri) as unknown as ChangesetState
}

/** The paths of a changeset in the folder `/a`. */
export function pathsIn({ files }: ChangesetState): readonly string[] {
  return files.map(({ id }) => id.replace('file:///a/', ''))
}
