import type { AgentAction, Chat } from '../../host/src/ports/agent.ts'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { silentAgent } from '../../host/test/test-host.ts'
import { hostAndClients } from '../test/host-and-clients.ts'
import type { TestClient } from '../test/host-and-clients.ts'
import { provideTools } from './provide-tools.ts'
import type { ProvidedTool } from './provide-tools.ts'

const session = 's:/1'
const chat = defaultChatUri(session)

/** An agent that calls the tool that the message names with the input behind the name. */
const caller = {
  ...silentAgent,
  resumes: true,
  async *run(it: Chat): AsyncIterable<AgentAction> {
    const { responseParts = [], message } = it.state.activeTurn ?? {}
    const [name = '', input = '{}'] = message?.text.split(' ') ?? []
    const tool = it.tools.list().find((each) => each.name === name)
    const toolCallId = 'c1'
    if (responseParts.length === 0) {
      const contributor = tool?.contributor ?? { kind: 'client', clientId: 'ann' }
      yield {
        type: 'chat/toolCallStart',
        toolCallId,
        toolName: tool?.definition.name ?? name,
        displayName: name,
        contributor,
      }
      yield {
        type: 'chat/toolCallReady',
        toolCallId,
        invocationMessage: name,
        toolInput: input,
        ...(!tool?.asks && { confirmed: 'not-needed' }),
      }
    }
    await it.tools.ended(toolCallId)
  },
}

async function room(limits = {}) {
  const all = await hostAndClients({ agents: [caller], limits })
  const [ann, ben] = [all.client('ann'), all.client('ben')] as const
  await ann.ask('createSession', { channel: session })
  const seen = ben.subscribe('chat', chat)
  await seen.ready()
  let turns = 0
  const say = async (text: string) => {
    const turnId = `t${++turns}`
    const message = { text, origin: { kind: 'user' as const } }
    await seen.dispatch({ type: 'chat/turnStarted', turnId, startedAt: '2026-01-01T00:00:00Z', message })
    return turnId
  }
  /** The call of a turn that has ended, as Ben sees it. */
  const outcome = async (turnId: string) => {
    const state = await seen.until(({ turns: ended }) => ended.some(({ id }) => id === turnId))
    const part = state.turns.find(({ id }) => id === turnId)?.responseParts[0]
    return part?.kind === 'toolCall' ? part.toolCall : undefined
  }
  return { all, ann, ben, seen, say, outcome }
}

/** A tool that ends when the test says so. It counts its runs. */
function slowTool(name = 'slow') {
  const runs: { readonly input: object; readonly signal: AbortSignal; end: (text: string) => void }[] = []
  const tool: ProvidedTool = {
    name,
    run: (input, { signal, show }) =>
      new Promise((resolve) => {
        show([{ type: 'text', text: 'at work' }])
        runs.push({ input, signal, end: resolve })
      }),
  }
  const begun = async (count = 1) => {
    while (runs.length < count) await new Promise((resolve) => setImmediate(resolve))
    return runs[count - 1]
  }
  return { tool, runs, begun }
}
const back = async (client: TestClient) => {
  client.clock.advance(60_000)
  await client.live()
}

test('[U11] [U11.1] a call runs once, with its input, shows content, and ends with its text', async () => {
  const { ann, seen, say, outcome } = await room()
  const { tool, runs, begun } = slowTool()
  await provideTools(ann, session, [{ ...tool, title: 'Slow' }], { displayName: 'Ann' }).ready
  const turnId = await say('slow {"a":1}')
  const run = await begun()
  await seen.until(({ activeTurn }) => JSON.stringify(activeTurn).includes('at work'))
  run?.end('42')
  expect(await outcome(turnId)).toMatchObject({
    success: true,
    pastTenseMessage: 'Called Slow',
    content: [{ text: '42' }],
  })
  expect(runs.map(({ input }) => input)).toEqual([{ a: 1 }])
})

test.each([
  [
    'throws',
    () => Promise.reject(new Error('no such file')),
    { success: false, error: { message: 'no such file' } },
  ],
  [
    'gives a whole result',
    () => ({ success: true, pastTenseMessage: 'Did', structuredContent: { a: 1 } }),
    { success: true, pastTenseMessage: 'Did', structuredContent: { a: 1 } },
  ],
] as const)('[U11] a tool that %s', async (_, run, expected) => {
  const { ann, say, outcome } = await room()
  await provideTools(ann, session, [{ name: 'x', run }]).ready
  expect(await outcome(await say('x'))).toMatchObject(expected)
})

test.each(['{', '[1]', '7'])(
  '[U11] [U11.2] an input that is no object, %s, fails without a run',
  async (input) => {
    const { ann, say, outcome } = await room()
    const { tool, runs } = slowTool()
    await provideTools(ann, session, [tool]).ready
    expect(await outcome(await say(`slow ${input}`))).toMatchObject({ success: false })
    expect(runs).toEqual([])
  },
)

test('[U11] [U11.2] X7.3: a call of a tool that is registered but not provided is denied', async () => {
  const { ann, say, outcome } = await room()
  await provideTools(ann, session, [{ name: 'x', run: () => 'x' }]).ready
  const entry = { clientId: 'ann', tools: [{ name: 'old' }] }
  await ann.dispatch(session, { type: 'session/activeClientSet', activeClient: entry } as { type: string })
  expect(await outcome(await say('old'))).toMatchObject({
    success: false,
    error: { message: 'this client has no tool "old"' },
  })
})

test('[U11] [U11.1] [F-39] [I6] cut off while the tool runs, and back within the grace: completed once', async () => {
  const { all, ann, say, outcome } = await room()
  const { tool, runs, begun } = slowTool()
  await provideTools(ann, session, [tool]).ready
  const turnId = await say('slow')
  const run = await begun()
  ann.cut()
  all.world.advance(29_000)
  run?.end('done while away')
  await back(ann)
  expect(await outcome(turnId)).toMatchObject({ success: true, content: [{ text: 'done while away' }] })
  expect(runs).toHaveLength(1)
})

test('[U11] [F-39] away for longer than the grace, the call has failed once, and the tool is told', async () => {
  const { all, ann, seen, say, outcome } = await room()
  const { tool, runs, begun } = slowTool()
  await provideTools(ann, session, [tool]).ready
  const turnId = await say('slow')
  const run = await begun()
  ann.cut()
  while (all.core().clients.links.has('ann')) await new Promise((resolve) => setImmediate(resolve))
  all.world.advance(31_000)
  expect(await outcome(turnId)).toMatchObject({
    success: false,
    error: { message: 'The client that provides this tool has left' },
  })
  await back(ann)
  while (!run?.signal.aborted) await new Promise((resolve) => setImmediate(resolve))
  run.end('too late')
  await say('slow')
  await begun(2)
  expect(runs).toHaveLength(2)
  expect(seen.state?.turns).toHaveLength(1)
})

test('[U11] I6: the host crashes while the tool runs: the call stays, and is completed once', async () => {
  const { all, ann, ben, say, outcome } = await room()
  const { tool, runs, begun } = slowTool()
  await provideTools(ann, session, [tool]).ready
  const turnId = await say('slow')
  const run = await begun()
  await all.restart('crash')
  await back(ann)
  await back(ben)
  run?.end('42')
  expect(await outcome(turnId)).toMatchObject({ success: true, content: [{ text: '42' }] })
  expect(runs).toHaveLength(1)
})

test('[U11] [U11.1] I6: a program that starts while a call of its client runs does not run it again', async () => {
  const { all, ann, say, outcome } = await room()
  const first = slowTool()
  await provideTools(ann, session, [first.tool]).ready
  const turnId = await say('slow')
  await first.begun()
  ann.close()
  const second = slowTool()
  await provideTools(all.client('ann'), session, [second.tool]).ready
  expect(await outcome(turnId)).toMatchObject({
    success: false,
    error: { message: expect.stringMatching(/restarted/) },
  })
  expect(second.runs).toEqual([])
})

test('[U11] of two clients with a tool of the same name, the called one runs it', async () => {
  const { ann, ben, say, outcome } = await room()
  const ran: string[] = []
  for (const client of [ann, ben])
    await provideTools(client, session, [{ name: 'x', run: () => String(ran.push(client.clientId)) }]).ready
  await outcome(await say('ben_x'))
  await outcome(await say('ann_x'))
  expect(ran).toEqual(['ben', 'ann'])
})

test('[U11] tools can be replaced and withdrawn; a withdrawn tool fails, also if it waited for a confirmation', async () => {
  const { ann, seen, say, outcome } = await room()
  const provided = provideTools(ann, session, [{ name: 'x', run: () => 'x' }])
  await provided.ready
  await provided.replace([{ name: 'y', annotations: { destructiveHint: true }, run: () => 'y' }])
  const turnId = await say('y')
  await seen.until(({ activeTurn }) => JSON.stringify(activeTurn).includes('pending-confirmation'))
  provided.withdraw()
  const viewed = ann.subscribe('session', session)
  await viewed.until(({ activeClients }) => activeClients.length === 0)
  const answer = { turnId, toolCallId: 'c1', approved: true, confirmed: 'user-action' } as const
  await seen.dispatch({ type: 'chat/toolCallConfirmed', ...answer })
  expect(await outcome(turnId)).toMatchObject({
    success: false,
    error: { message: 'The client that provides this tool has left' },
  })
})

test('[U11] [U11.2] a client that the host gave up joins again', async () => {
  const { all, ann, ben, say, outcome } = await room()
  await provideTools(ann, session, [{ name: 'x', run: () => 'x' }]).ready
  // A session without a turn would be removed with its creator.
  await outcome(await say('x'))
  ann.cut()
  while (all.core().clients.links.has('ann')) await new Promise((resolve) => setImmediate(resolve))
  all.world.advance(4 * 3_600_000)
  const viewed = ben.subscribe('session', session)
  const names = ({ activeClients }: SessionState) => activeClients.map(({ clientId }) => clientId)
  await viewed.until((state) => names(state).length === 0)
  await back(ann)
  await viewed.until((state) => names(state).includes('ann'))
  expect(await outcome(await say('x'))).toMatchObject({ success: true })
})

test('[U11] a refused registration is told', async () => {
  const { ann } = await room({ lentLength: 100 })
  const tool = { name: 'x', description: 'x'.repeat(100), run: () => '' }
  await expect(provideTools(ann, session, [tool]).ready).rejects.toThrow('at most 100 characters')
})
