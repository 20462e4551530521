import { guide } from '@atrium/adapters/guide'
import { listen } from '@atrium/adapters/server'
import { memoryStore } from '@atrium/adapters/store/memory'
import { nodeWorld } from '@atrium/adapters/process/world'
import { createHost } from '@atrium/host'
import type { Agent, Chat, AgentAction } from '@atrium/host/ports/agent'
import type { ResponsePart } from '@atrium/protocol/chat/state'
import { expect, onTestFinished, test } from 'vitest'
import { judgeHost } from './host.ts'
import { runRules } from './kit/run.ts'
import { absentIn } from './kit/version.ts'
import { topics } from './rules/all.ts'

const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'

const prompts = { toolPrompt: 'run ls', formPrompt: 'ask', workerPrompt: 'spawn say hello' }

async function startAtrium(): Promise<string> {
  const world = nodeWorld(() => {})
  const open = withResultApproval(guide(world.later))
  const protectedAgent: Agent = {
    ...open,
    info: {
      ...open.info,
      provider: 'protected',
      models: [],
      protectedResources: [{ resource: 'https://protected.example' }],
    },
  }
  const host = await createHost({
    store: memoryStore(),
    world,
    agents: [open, protectedAgent],
    telemetry: { lines: () => () => {}, collector: undefined },
  })
  const listening = await listen({ token, connect: (link, principal) => host.connect(link, principal) })
  onTestFinished(async () => {
    const closed = listening.close()
    await host.close()
    await closed
  })
  return listening.url
}

/** Wraps an agent: the result of the tool call that the tool prompt causes needs the approval of a user as well. */
function withResultApproval(agent: Agent): Agent {
  async function* run(chat: Chat, signal: AbortSignal): AsyncIterable<AgentAction> {
    for await (const agentAction of agent.run(chat, signal)) {
      const asked = chat.state.activeTurn?.message.text === prompts.toolPrompt
      if (agentAction.type !== 'chat/toolCallComplete' || !asked) {
        yield agentAction
        continue
      }
      yield { ...agentAction, requiresResultConfirmation: true }
      await chat.when(({ activeTurn }) => activeTurn?.responseParts.every(hasEnded) === true)
    }
  }
  return { ...agent, run }
}

function hasEnded(part: ResponsePart): boolean {
  return part.kind !== 'toolCall' || ['completed', 'cancelled'].includes(part.toolCall.status)
}

test('[C10] the host of this repository passes every rule and skips none that the version has', async () => {
  const target = { url: await startAtrium(), token, timeoutMs: 10_000 }
  const verdicts = await runRules(target, { versions: ['1.0.0', '0.9.0'], topics, ...prompts })
  const others = verdicts.filter(({ outcome }) => outcome !== 'pass')
  const absent = topics.flatMap((topic) =>
    topic.rules.map((rule) => absentIn('0.9.0', topic, rule)).filter((reason) => reason !== undefined),
  )
  expect(others.map(({ version, outcome, detail }) => ({ version, outcome, detail }))).toEqual(
    absent.map((detail) => ({ version: '0.9.0', outcome: 'skip', detail })),
  )
})

test('[C9] the token is accepted as a header or in the URL; a connection without it is refused', async () => {
  const url = await startAtrium()
  const codes: unknown[] = []
  for (const args of [['--token', token], ['--token', 'wrong'], []])
    codes.push(await judgeHost(['--url', url, '--rules', 'K11', ...args], String, String))
  codes.push(await judgeHost(['--url', `${url}?tkn=${token}`, '--rules', 'K11'], String, String))
  expect(codes).toEqual([0, 2, 2, 0])
})
