import { expect, test } from 'vitest'
import { Wire } from './wire.ts'

const [first, third, fourth] = [new Wire('0.1.0'), new Wire('0.3.0'), new Wire('0.4.0')]
const title = { type: 'session/titleChanged', title: 'T' }

test('[V8] at 0.1 params name a session, a terminal or a resource, and later a channel', () => {
  expect(first.params('subscribe', 's', { a: 1 })).toEqual({ resource: 's', a: 1 })
  expect(first.params('createSession', 's')).toEqual({ session: 's' })
  expect(first.params('disposeTerminal', 't')).toEqual({ terminal: 't' })
  expect(first.params('listSessions', first.root)).toEqual({})
  expect(third.params('listSessions', third.root, { a: 1 })).toEqual({ channel: 'ahp-root://', a: 1 })
})

test('[V8] at 0.1 an action names its session or terminal, and an envelope has no channel', () => {
  expect(first.dispatch('s', 3, title)).toEqual({ clientSeq: 3, action: { ...title, session: 's' } })
  expect(third.dispatch('s', 3, title)).toEqual({ channel: 's', clientSeq: 3, action: title })
  expect(first.addressed('t', { type: 'terminal/cleared' })).toEqual({
    type: 'terminal/cleared',
    terminal: 't',
  })
  expect(first.addressed(first.root, { type: 'root/configChanged' })).toEqual({ type: 'root/configChanged' })
  expect(first.channelOf({ action: first.addressed('s', title) })).toBe('s')
  expect(first.channelOf({ action: { type: 'root/configChanged' } })).toBe('agenthost:/root')
  expect(third.channelOf({ channel: 's', action: title })).toBe('s')
  expect(third.channelOf({ action: title })).toBeUndefined()
})

test('[V8] turns belong to the session up to 0.3, and a message has no origin up to 0.2', () => {
  expect([third, fourth].map((wire) => wire.turnType('delta'))).toEqual(['session/delta', 'chat/delta'])
  expect(first.message('hi')).toEqual({ userMessage: { text: 'hi' } })
  expect(third.message('hi')).toEqual({ message: { text: 'hi', origin: { kind: 'user' } } })
})

test('[V8] at 0.1 notifications have one method, and a type each', () => {
  const notification = { type: 'notify/sessionRemoved', session: 's' }
  const expected = { method: 'root/sessionRemoved', params: { session: 's' } }
  expect(first.notice('notification', { notification })).toEqual(expected)
  expect(third.notice('root/sessionRemoved', { session: 's' })).toEqual(expected)
})
