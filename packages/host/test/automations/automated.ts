import type {
  AutomationDefinition,
  AutomationEntry,
  AutomationRunState,
  AutomationState,
} from '@atrium/protocol/automation/state'
import type { Envelope } from '@atrium/protocol/channel'
import { automationsUri } from '@atrium/protocol/uri'
import { untilIdle } from '../held-flushes.ts'
import { ScriptedAgent } from '../scripted-agent.ts'
import { testHost } from '../test-host.ts'
import type { Client, TestHost, TestHostOptions } from '../test-host.ts'

export const one = 'ahp-automation:/one'
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs

export const everyHour = {
  kind: 'schedule',
  id: 'hourly',
  schedule: { expression: '0 * * * *', timeZone: 'UTC' },
} as const

export const definition = (more: Partial<AutomationDefinition> = {}): AutomationDefinition => ({
  title: 'Look around',
  message: { text: 'look around', origin: { kind: 'automation' } },
  session: { provider: 'mock' },
  enabled: true,
  triggers: [everyHour],
  ...more,
})

export const overlap = (policy: string) => ({ _meta: { 'x-atrium': { overlap: policy } } })

export interface Automated {
  readonly all: TestHost
  readonly ann: Client
  readonly agent: ScriptedAgent
  /** Creates an automation, or changes one. Returns the reason of a refusal. */
  create(given?: Partial<AutomationDefinition>, uri?: string): Promise<string | undefined>
  update(changes: object, uri?: string): Promise<string | undefined>
  entry(uri?: string): AutomationEntry
  run(uri: string): Promise<AutomationRunState>
  /** Lets time pass, and everything happen that follows. */
  pass(ms: number): Promise<void>
  /** Ends the newest turn of the agent. */
  end(nth?: number): Promise<void>
}

/** A host with an agent that tests control, and Ann, who follows the automations. The clock stands at midnight. */
export async function automated(options: TestHostOptions = {}): Promise<Automated> {
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent], ...options })
  const ann = await all.join('ann', { subscribe: [automationsUri] })
  const send = async (action: Record<string, unknown> & { type: string }): Promise<string | undefined> => {
    const echo: Envelope = await ann.echo(ann.dispatch(automationsUri, action))
    await untilIdle()
    return echo.rejectionReason
  }
  const entry = (uri = one) => {
    const found = (ann.state(automationsUri) as unknown as AutomationState).entries.find(
      ({ resource }) => resource === uri,
    )
    if (!found) throw new Error(`there is no ${uri}`)
    return found
  }
  return {
    all,
    ann,
    agent,
    entry,
    create: (given = {}, resource = one) =>
      send({ type: 'automation/createRequested', resource, definition: definition(given) }),
    update: (changes, resource = one) => send({ type: 'automation/updateRequested', resource, changes }),
    async run(uri) {
      await ann.ask('subscribe', { channel: uri })
      return ann.state(uri) as unknown as AutomationRunState
    },
    async pass(ms) {
      all.world.advance(ms)
      for (let step = 0; step < 3; step++) {
        await untilIdle()
        all.world.advance(0)
      }
      await untilIdle()
    },
    async end(nth = agent.runs.length - 1) {
      const run = await agent.given(nth)
      run.end()
      await untilIdle()
    },
  }
}
