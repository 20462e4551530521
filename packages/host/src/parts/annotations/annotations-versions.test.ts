import type { Annotation } from '@atrium/protocol/annotations/state'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { Value } from '../../../test/versions/older-client.ts'

const session = 'mock:/one'
const uri = `${session}/annotations`
const resource = 'git:/a.ts'
const entries = [{ id: 'e1', text: 'why?' }]

function note(id: string, turnId?: string): Annotation {
  const origin = { session, ...(turnId !== undefined && { turnId }) }
  return { id, origin, resource, resolved: false, entries }
}

async function opened() {
  const all = await testHost()
  const ann = await all.join('ann', { subscribe: [rootUri] })
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: uri })
  const send = (action: { readonly type: string }) => ann.echo(ann.dispatch(uri, action as never))
  return { all, ann, send }
}

const listOf = (client: OlderClient) => client.state(uri)['annotations'] as readonly Value[]

test.each(['0.4.0', '0.5.2', '0.6.0', '0.8.0'] as const)(
  '[H30.6] a client of AHP %s sees and writes the annotations that belong to a turn',
  async (version) => {
    const { all, ann, send } = await opened()
    await send({ type: 'annotations/set', annotation: note('n1', 't1') } as never)
    await send({ type: 'annotations/set', annotation: note('n2') } as never)
    const old = new OlderClient(all, version)
    await old.open([session, uri])
    expect(listOf(old)).toMatchObject([{ id: 'n1', turnId: 't1' }])
    const state = old.state(session)
    const holder = version === '0.4.0' ? (state['summary'] as Value) : state
    expect(holder['annotations']).toEqual({ resource: uri, annotationCount: 2, entryCount: 2 })

    const annotation = { id: 'n3', turnId: 't2', resource, resolved: false, entries }
    const echo = await old.echo(old.dispatch(uri, { type: 'annotations/set', annotation }))
    expect(echo).toMatchObject({ action: { annotation: { turnId: 't2' } } })
    expect(echo.rejectionReason).toBeUndefined()
    await ann.until(() => JSON.stringify(ann.state(uri)).includes('n3'))
    expect(ann.state(uri)).toMatchObject({
      annotations: [{ id: 'n1' }, { id: 'n2' }, { id: 'n3', origin: { session, turnId: 't2' } }],
    })

    await send({
      type: 'annotations/updated',
      annotationId: 'n2',
      origin: { session, turnId: 't1' },
    } as never)
    await old.until(() => listOf(old).length === 3)
    await send({ type: 'annotations/entrySet', annotationId: 'n3', entry: { id: 'e2', text: 'so' } } as never)
    await send({ type: 'annotations/removed', annotationId: 'n1' } as never)
    await old.until(() => listOf(old).length === 2)
    const live = listOf(old)
    await old.reconnect()
    expect(listOf(old)).toEqual(live)
    const other = new OlderClient(all, version, 'other')
    await other.open([uri])
    const byId = (list: readonly Value[]) =>
      list.toSorted((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1))
    expect(byId(listOf(other))).toEqual(byId(live))
  },
)

test.each(['0.2.0', '0.3.0'] as const)('[H30.6] a client of AHP %s has no annotations', async (version) => {
  const { all } = await opened()
  const old = new OlderClient(all, version)
  await old.open([session])
  expect(JSON.stringify(old.state(session))).not.toContain('annotationCount')
  await expect(old.subscribe(uri)).rejects.toMatchObject({ code: expect.any(Number) })
})
