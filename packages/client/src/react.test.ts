import { StrictMode, act, createElement } from 'react'
import type { ReactNode } from 'react'
import { create } from 'react-test-renderer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostAndClients } from '../test/host-and-clients.ts'
import type { TestClient } from '../test/host-and-clients.ts'
import { useChannel, useLink } from './react.ts'

const session = 'ahp-session:/one'
const flag = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }
beforeAll(() => void (flag.IS_REACT_ACT_ENVIRONMENT = true))
afterAll(() => void (flag.IS_REACT_ACT_ENVIRONMENT = false))

function Title({ client }: { readonly client: TestClient }): ReactNode {
  const { state, pending } = useChannel(client, 'session', session)
  const { state: link } = useLink(client)
  return `${link}: ${state?.title ?? '…'}${pending.length > 0 ? ' (pending)' : ''}`
}

test('[U8] a component shows a channel with pending actions, and unsubscribes when it is unmounted', async () => {
  const all = await hostAndClients()
  const ann = all.client('ann')
  const ben = all.client('ben')
  await ann.ask('createSession', { channel: session, provider: 'mock' })
  await ben.ask('ping', {})
  let tree = create(createElement('p'))
  const shown = () => tree.toJSON() as unknown
  // Two components with the same channel, in strict mode, where React subscribes twice.
  const both = createElement(
    StrictMode,
    null,
    createElement(Title, { client: ben }),
    ' | ',
    createElement(Title, { client: ben }),
  )
  await act(async () => void (tree = create(both)))
  const other = ben.subscribe('session', session)
  await act(async () => void (await other.ready()))
  expect(shown()).toEqual(['live: ', ' | ', 'live: '])
  let dispatched: Promise<unknown> = Promise.resolve()
  await act(async () => {
    dispatched = other.dispatch({ type: 'session/titleChanged', title: 'mine' })
  })
  await act(async () => void (await dispatched))
  expect(shown()).toEqual(['live: mine', ' | ', 'live: mine'])
  await act(
    async () => void (await ann.dispatch(session, { type: 'session/titleChanged', title: 'hers' } as never)),
  )
  await act(async () => void (await other.until(({ title }) => title === 'hers')))
  expect(shown()).toEqual(['live: hers', ' | ', 'live: hers'])
  other.release()
  await act(async () => tree.unmount())
  await ben.ask('ping', {})
  await ann.ask('listSessions', {})
  expect(all.core().log.channel(session)?.listeners.size).toBe(0)
})
