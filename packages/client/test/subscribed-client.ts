import { TestClient, ScriptedHost } from './host-and-clients.ts'

export const uri = 'ahp-chat:/one'
export const state = {
  resource: uri,
  title: '',
  status: 1,
  modifiedAt: '2026-01-01T00:00:00Z',
  turns: [],
}
export const begun = {
  type: 'chat/turnStarted',
  turnId: 't1',
  startedAt: '2026-01-01T00:00:00Z',
  message: { text: 'go', origin: { kind: 'user' } },
}
export const draft = (text: string) => ({
  type: 'chat/draftChanged',
  draft: { text, origin: { kind: 'user' } },
})
export const snapshot = (fromSeq: number, more: object = {}) => ({
  resource: uri,
  fromSeq,
  state: { ...state, ...more },
})

/** Returns a scripted host and a connected client that is subscribed to a chat, with a snapshot at number 10. */
export async function subscribedClient(resends = true) {
  const host = new ScriptedHost()
  const client = new TestClient(host.open)
  client.connect()
  const _meta = { 'x-atrium': { resends } }
  await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [], _meta })
  const chat = client.subscribe('chat', uri)
  await host.respond('subscribe', { snapshot: snapshot(10) })
  await chat.ready()
  return { host, client, chat }
}
