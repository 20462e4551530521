import { AgentInfo } from '@atrium/protocol/root/state'
import { SessionConfigSchema } from '@atrium/protocol/common/config'
import type { Turn } from '@atrium/protocol/chat/state'
import { decode } from '@atrium/protocol/schema'
import { SessionConfigChoice } from '@atrium/protocol/session/commands'
import { ToolDefinition } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { HostlessChat } from '../../../test/hostless-chat.ts'
import type { Run } from '../../../test/hostless-chat.ts'
import { offeredToolContract } from './agent-rough.contract.ts'
import type { Agent } from '../agent.ts'

export interface AgentScript {
  /** Messages that the agent answers. Together the answers should contain every kind of action that the agent yields. */
  readonly prompts: readonly string[]
  /** A message at which the agent fails. */
  readonly failing: string
  /** A message at which the agent calls the offered tool of this name with this input, and then answers. */
  readonly calling?: (tool: string, input: string) => string
  /** Whether the same message always leads to the same actions. */
  readonly deterministic?: boolean
}

/** Tests for every agent. An agent under test must not wait for real time. */
export function agentContract(name: string, open: () => Agent | Promise<Agent>, script: AgentScript): void {
  const { prompts, failing, calling, deterministic = false } = script

  test(`[N4] ${name}: its info, its tools and its settings match their schemas`, async () => {
    const { info, settings, tools = [] } = await open()
    expect(decode(AgentInfo, info)).toEqual({ ok: true, value: info })
    for (const tool of tools) expect(decode(ToolDefinition, tool)).toEqual({ ok: true, value: tool })
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
    expect(info.models.every((model) => model.provider === info.provider)).toBe(true)
    if (settings) expect(decode(SessionConfigSchema, settings.schema)).toMatchObject({ ok: true })
  })

  test(`[N4.1] [N4] ${name}: the choices of a setting are found by a query`, async () => {
    const { settings } = await open()
    const dynamic = Object.entries(settings?.schema.properties ?? {}).filter(([, each]) => each.enumDynamic)
    for (const property of [...dynamic.map(([key]) => key), 'no.such.setting', '__proto__']) {
      const all = (await settings?.choices?.(property, '', undefined)) ?? []
      for (const choice of all) expect(decode(SessionConfigChoice, choice).ok).toBe(true)
      expect(all.length > 0).toBe(dynamic.some(([key]) => key === property))
      const none = (await settings?.choices?.(property, '\u0000 no such choice', undefined)) ?? []
      expect(none).toEqual([])
    }
  })

  test(`[J4] ${name}: its commands are single words, without duplicates`, async () => {
    const agent = await open()
    const commands = (await agent.commands?.(new HostlessChat(agent).session)) ?? []
    for (const { name: word } of commands) expect(word).toMatch(/^\S{1,64}$/)
    expect(new Set(commands.map(({ name: word }) => word)).size).toBe(commands.length)
  })

  test.each(prompts)(
    `[N1.2] [N1.3] [N1] ${name}: %j is answered with valid actions in a valid order`,
    async (text) => {
      const stage = new HostlessChat(await open())
      const run = stage.begin(text)
      const turn = await run.end()
      expect(run.failure).toBeUndefined()
      expect(turn.state).toBe('complete')
      expect(turn.responseParts.length).toBeGreaterThan(0)
      expect(stage.state.activity).toBeUndefined()
      expect(JSON.parse(JSON.stringify(stage.state))).toEqual(stage.state)
      expect(await run.iterator.next()).toMatchObject({ done: true })
    },
  )

  test(`[N1.2] [N1] ${name}: a second turn in a chat reuses no id of the first`, async () => {
    const stage = new HostlessChat(await open())
    for (const text of [...prompts, ...prompts]) await stage.turn(text)
    expect(stage.state.turns.map((turn) => turn.state)).toEqual(
      [...prompts, ...prompts].map(() => 'complete'),
    )
  })

  test(`[N1] ${name}: a turn that fails throws, and is over`, async () => {
    const run = new HostlessChat(await open()).begin(failing)
    const turn = await run.end()
    expect(run.failure).toBeInstanceOf(Error)
    expect(turn.state).toBe('error')
    expect(await run.iterator.next()).toMatchObject({ done: true })
  })

  test.each([
    ['no text', ''],
    ['only space', ' \n\t \n'],
    ['a NUL, a lone surrogate and a bidirectional control', '\u0000 \ud83d \u202e \u{10ffff} e\u0301 👩‍👩‍👧'],
    ['names of Object members', '__proto__ constructor toString'],
    ['a megabyte of words', 'wonderfully '.repeat(90_000)],
    ['a megabyte without a space', '😀'.repeat(250_000)],
  ])(`[N1.5] [N1] ${name}: %s is a message like others`, async (_, text) => {
    const agent = await open()
    for (const whole of [text, ...prompts.slice(0, 1).map((prompt) => `${prompt} ${text}`)]) {
      const run = new HostlessChat(agent).begin(whole)
      expect([(await run.end()).state, run.failure]).toEqual(['complete', undefined])
    }
  })

  test(`[N1.5] [N1] ${name}: concurrent turns of several chats do not mix`, async () => {
    const agent = await open()
    const runs = prompts.map((text, i) => new HostlessChat(agent, { uri: `ahp-chat:/${i}` }).begin(text))
    const together = await Promise.all(runs.map((run) => run.end()))
    expect(together.map((turn) => turn.message.text)).toEqual(prompts)
    if (!deterministic) return
    for (const [i, text] of prompts.entries()) {
      const alone = await new HostlessChat(await open(), { uri: `ahp-chat:/${i}` }).turn(text)
      expect(together[i]).toEqual(alone)
    }
  })

  if (deterministic)
    test.each([...prompts, failing])(`[N1] ${name}: %j is answered the same each time`, async (text) => {
      const [first, second] = [
        new HostlessChat(await open()).begin(text),
        new HostlessChat(await open()).begin(text),
      ]
      expect(await first.end()).toEqual(await second.end())
      expect(first.said).toEqual(second.said)
    })

  test.each([...prompts, failing])(`[N2] ${name}: %j is aborted at every point`, async (text) => {
    const rejected: unknown[] = []
    const listener = (reason: unknown) => void rejected.push(reason)
    process.on('unhandledRejection', listener)
    const length = await lengthOf(await open(), text)
    for (let k = 0; k <= length; k++)
      for (const end of [left, drained]) {
        const stage = new HostlessChat(await open())
        const run = stage.begin(text)
        for (let i = 0; i < k; i++) await run.step()
        await end(run)
        expect(await run.iterator.next()).toMatchObject({ done: true })
      }
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', listener)
    expect(rejected).toEqual([])
  })

  test(`[N2] ${name}: a turn that is aborted before it starts ends`, async () => {
    const run = new HostlessChat(await open()).begin(prompts[0] ?? '')
    await drained(run)
    expect(run.said).toEqual([])
  })

  if (calling) offeredToolContract(name, open, calling)

  // The tests below compare runs, which needs a deterministic agent.
  if (!deterministic) return

  test.for(prompts)(
    `[N3] ${name}: %j, cut at any point and resumed, ends as if uncut`,
    async (text, { skip }) => {
      const agent = await open()
      if (!agent.resumes) skip()
      const whole = legible(await new HostlessChat(agent).turn(text))
      const length = await lengthOf(agent, text)
      for (let k = 0; k <= length; k++)
        for (const torn of [false, true]) {
          const stage = new HostlessChat(await open())
          await cutAfter(stage.begin(text), k, torn)
          const turn = await stage.resume().end()
          const { activity } = stage.state
          expect([k, torn, turn.state, activity, legible(turn)]).toEqual([
            k,
            torn,
            'complete',
            undefined,
            whole,
          ])
        }
    },
  )

  test.for(prompts)(`[N3] ${name}: %j, cut again and again, ends as if uncut`, async (text, { skip }) => {
    const agent = await open()
    if (!agent.resumes) skip()
    const whole = legible(await new HostlessChat(agent).turn(text))
    const stage = new HostlessChat(agent)
    await cutAfter(stage.begin(text), 2, true)
    for (let i = 0; i < 8; i++) await cutAfter(stage.resume(), i, true)
    expect(legible(await stage.resume().end())).toEqual(whole)
  })
}

/** Returns the number of actions in the agent's answer to a message. */
async function lengthOf(agent: Agent, text: string): Promise<number> {
  const run = new HostlessChat(agent).begin(text)
  await run.end()
  return run.said.length
}

async function cutAfter(run: Run, steps: number, torn: boolean): Promise<void> {
  for (let i = 1; i <= steps; i++) if (!(await run.step(torn && i === steps))) break
  await run.cut()
}

/** Aborts the turn between two actions, and closes the iterator. */
async function left(run: Run): Promise<void> {
  run.abort()
  await run.iterator.return?.()
}

/** Aborts the turn while the host waits for the next action. One pending action may still come. */
async function drained(run: Run): Promise<void> {
  const next = run.iterator.next()
  run.abort()
  if (await over(next)) return
  expect(await over(run.iterator.next())).toBe(true)
}

/** Whether the iterator has ended. An aborted agent may return or throw. */
function over(next: Promise<IteratorResult<unknown>>): Promise<boolean> {
  return next.then(
    ({ done }) => done === true,
    () => true,
  )
}

/** The content of a turn as lines for comparison. Errors and failed calls are left out, and adjacent parts of text are joined. */
function legible(turn: Turn): readonly string[] {
  const lines: string[] = []
  let last = ''
  for (const part of turn.responseParts) {
    if (part.kind === 'error') continue
    if (part.kind === 'toolCall') {
      const { toolCall } = part
      if (toolCall.status !== 'completed') continue
      lines.push(`${toolCall.toolName} ${JSON.stringify(toolCall.pastTenseMessage)} ${toolCall.success}`)
    } else if (part.kind === 'markdown' || part.kind === 'reasoning') {
      if (part.kind === last) lines.push(`${lines.pop()}${part.content}`)
      else lines.push(`${part.kind} ${part.content}`)
    } else lines.push(JSON.stringify(part))
    last = part.kind
  }
  return [...lines, JSON.stringify(turn.usage)]
}
