// Reduces the actions of a chat to its state. Run: npm run build && node examples/fold.mjs
import { Activity, activityOf, pair, Peer, reducers, serve } from '@atrium/protocol'

const [near, far] = pair()
const chat = 'ahp-chat:/demo'
let state = {
  resource: chat,
  title: 'Demo',
  status: Activity.Idle,
  modifiedAt: '2026-01-01T00:00:00Z',
  turns: [],
}

// One end receives actions and reduces them into a state …
const listener = serve(
  { ping: () => null },
  { action: ({ action }) => (state = reducers.chat(state, action)) },
)
new Peer(far, listener)

// … and the other end sends them, as a host does.
const host = new Peer(near, serve({}))
const message = { text: 'Say hello', origin: { kind: 'user' } }
const actions = [
  { type: 'chat/turnStarted', turnId: 't1', startedAt: '2026-01-01T00:00:01Z', message },
  { type: 'chat/responsePart', turnId: 't1', part: { kind: 'markdown', id: 'p1', content: '' } },
  { type: 'chat/delta', turnId: 't1', partId: 'p1', content: 'Hello, ' },
  { type: 'chat/delta', turnId: 't1', partId: 'p1', content: 'world.' },
  { type: 'chat/turnComplete', turnId: 't1', duration: 1500 },
]
actions.forEach((action, i) => host.notify('action', { channel: chat, action, serverSeq: i + 1 }))

await host.request('ping', {}) // the response comes after all actions that were sent before
console.log(
  state.turns[0].responseParts[0].content,
  activityOf(state.status) === Activity.Idle,
  state.modifiedAt,
)
