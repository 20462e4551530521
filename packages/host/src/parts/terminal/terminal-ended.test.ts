import type { RootState } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { testHost } from '../../../test/test-host.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'

const uri = (n: number) => `ahp-terminal:/${n}`

/** A host that allows three running terminals, and Ann, who creates terminals. */
async function setUp() {
  const terminals = fakeTerminals()
  const all = await testHost({ machine: { terminals }, limits: { terminals: 3 } })
  const ann = await all.join('ann', { subscribe: [rootUri] })
  const claim = { kind: 'client', clientId: 'ann' } as const
  const make = (...names: number[]) =>
    Promise.all(names.map((n) => ann.ask('createTerminal', { channel: uri(n), claim })))
  const listed = () => (ann.state(rootUri) as unknown as RootState).terminals ?? []
  const names = (status: string) =>
    listed().flatMap(({ resource, lifecycle }) => (lifecycle.status === status ? [resource] : []))
  const exitAll = async () => {
    for (const shell of terminals.shells) if (!shell.ended) shell.exit(0)
    await ann.until(() => names('running').length === 0)
  }
  return { all, ann, make, names, exitAll }
}

test('[Y2] [S-23] [Y2.1] terminals that have exited do not count for the limit of running terminals', async () => {
  const { make, names, exitAll } = await setUp()
  await make(1, 2, 3)
  await expect(make(4)).rejects.toMatchObject({ code: -32009 })
  await exitAll()
  await make(5, 6, 7)
  await expect(make(8)).rejects.toMatchObject({ code: -32009 })
  expect(names('running')).toEqual([uri(5), uri(6), uri(7)])
})

test('[Y2] [Y2.1] a new terminal takes the place of the oldest exited ones, if as many as may run are listed', async () => {
  const { all, ann, make, names, exitAll } = await setUp()
  await make(1, 2)
  await exitAll()
  await make(3, 4, 5)
  expect(names('exited')).toEqual([uri(1), uri(2)])
  await exitAll()
  expect(names('exited')).toEqual([1, 2, 3, 4, 5].map(uri))
  all.world.advance(120_000)
  await make(6)
  expect(names('exited')).toEqual([uri(4), uri(5)])
  for (const n of [1, 2, 3]) {
    await expect(ann.ask('subscribe', { channel: uri(n) })).rejects.toMatchObject({ code: -32008 })
    await expect(make(n)).rejects.toMatchObject({ code: -32010 })
  }
  await ann.ask('subscribe', { channel: uri(4) })
})

test('[Y2] a terminal that is refused removes no exited one', async () => {
  const { make, names, exitAll } = await setUp()
  await make(1, 2, 3)
  await exitAll()
  await make(4, 5, 6)
  const exited = names('exited')
  await expect(make(7)).rejects.toMatchObject({ code: -32009 })
  expect(names('exited')).toEqual(exited)
})
