import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { chat, session, sessionOf, started, oneClientSession } from '../../../test/one-client-session.ts'

test('[W8] an input request and a tool call with the same id are both listed in the session', async () => {
  const { ann } = await oneClientSession({
    ...readyAgent(),
    async *run({ when }) {
      yield { type: 'chat/inputRequested', request: { id: 'one', message: 'Well?' } }
      yield { type: 'chat/toolCallStart', toolCallId: 'one', toolName: 'shell', displayName: 'Run' }
      yield { type: 'chat/toolCallReady', toolCallId: 'one', invocationMessage: 'Running ls' }
      await when(() => false)
    },
  })
  ann.dispatch(chat, started('t'))
  await ann.until(() => JSON.stringify(sessionOf(ann)).includes('pending-confirmation'))
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'Two' }))
  expect(sessionOf(ann).inputNeeded?.map(({ kind }) => kind)).toEqual(['chatInput', 'toolConfirmation'])
})
