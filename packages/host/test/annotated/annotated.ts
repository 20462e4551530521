import type { Annotation, AnnotationsState } from '@atrium/protocol/annotations/state'
import { hostWithFiles } from '../files-host.ts'
import type { Client, Machine } from '../test-host.ts'

export const session = 's:/1'
export const uri = 's:/1/annotations'
export const file = 'file:///w/a.txt'
export const origin = { session }
export const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 5 } }

export function note(id: string, more: Partial<Annotation> = {}): Annotation {
  return {
    id,
    origin,
    resource: file,
    range,
    resolved: false,
    entries: [{ id: 'e1', text: 'why?' }],
    ...more,
  }
}

export const set = (annotation: Annotation) => ({ type: 'annotations/set', annotation })
export const stateOf = (client: Client, channel = uri) => client.state(channel) as unknown as AnnotationsState
export const idsOf = (client: Client) => stateOf(client).annotations.map(({ id }) => id)

/** Dispatches, and resolves with the reason of the refusal, if there is one. */
export async function send(client: Client, action: { readonly type: string }): Promise<string | undefined> {
  return (await client.echo(client.dispatch(uri, action as never))).rejectionReason
}

/** A host with some files, and Ann, who has a session and follows its annotations. */
export async function annotated(machine: Machine = {}) {
  const given = await hostWithFiles({}, machine)
  await given.ann.ask('subscribe', { channel: uri })
  return given
}
