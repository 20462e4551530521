import type { Client } from '@atrium/client/client'
import { readinessOf } from '@atrium/protocol/root/readiness'
import type { Readiness } from '@atrium/protocol/root/readiness'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import type { HostOptions } from '../link/connect.ts'
import { requiredLogins } from '../link/logins.ts'
import { unasked } from '../session/unasked.ts'
import { printList } from '../render/table.ts'
import { withClient } from '../link/with-client.ts'
import { sentenceOf } from '../terminal/exit.ts'
import { sanitize, onOneLine, output } from '../terminal/output.ts'
import type { Output, OutputOptions, Style } from '../terminal/output.ts'

/** `atrium agents`: lists the agents, their models, and the sign-ins that they require. */
export function agents(flags: HostOptions & OutputOptions & { readonly check?: boolean }): Promise<void> {
  const out = output(flags)
  return withClient(flags, async (client) => {
    const root = client.subscribe('root', rootUri)
    const { agents: offered } = await root.ready()
    if (flags.check) await check(client, offered, out)
    const { agents: all } = root.state ?? { agents: offered }
    printList(out, all, {
      document: (agent) => ({
        ...agent,
        ...readinessOf(agent),
        loginRequired: requiredLogins(agent).length > 0,
      }),
      row: (agent) => row(agent, out.style),
      empty: 'This host has no agents.',
    })
  })
}

/**
 * Asks all agents for their settings at the same time, which starts their programs. The host then updates the list of agents.
 * Says when an agent has answered.
 */
async function check(client: Client, all: readonly AgentInfo[], { note, style }: Output): Promise<void> {
  const root = client.subscribe('root', rootUri)
  let left = all.length
  await Promise.all(
    all.map(async ({ provider }) => {
      const asked = client.ask('resolveSessionConfig', { channel: rootUri, provider, config: {} })
      const problem = await asked.then(() => undefined, sentenceOf)
      const now = root.state?.agents.find((agent) => agent.provider === provider)
      const state = problem ?? stateText(now && readinessOf(now)) ?? 'it has answered'
      left--
      note(style.dim(`· ${sanitize(provider)}: ${onOneLine(state)} (${left} left)`))
    }),
  )
  root.release()
}

/** Whether all models of the agent lack an API key. */
function isWithoutKey({ models }: AgentInfo): boolean {
  return models.length > 0 && models.every(({ policyState }) => policyState === 'unconfigured')
}

/** Returns a few words about what the agent needs before it works. */
function stateOf(agent: AgentInfo, logins: string, { yellow, red, dim }: Style): string {
  if (logins !== '') return yellow(`login: ${logins}`)
  const readiness = readinessOf(agent)
  const text = stateText(readiness) ?? (isWithoutKey(agent) ? 'no key' : 'needs no login')
  if (readiness?.state === 'broken') return red(text)
  return readiness?.state === 'needs-sign-in' || text === 'no key' ? yellow(text) : dim(text)
}

function stateText(readiness: Readiness | undefined): string | undefined {
  return readiness?.state.replaceAll('-', ' ').replace('sign in', 'sign-in')
}

function row(agent: AgentInfo, style: Style): readonly string[] {
  const { cyan, dim } = style
  const { problem, actsWithoutAsking } = readinessOf(agent) ?? {}
  const logins = requiredLogins(agent).map(onOneLine).join(', ')
  const models = agent.models.slice(0, maxModels).map(({ id }) => sanitize(id))
  const more = agent.models.length - models.length
  const shown = [...models, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return [
    cyan(sanitize(agent.provider)),
    onOneLine(agent.displayName),
    [stateOf(agent, logins, style), ...(actsWithoutAsking ? [style.yellow(unasked)] : [])].join(', '),
    problem === undefined ? shown || dim(onOneLine(agent.description)) : dim(onOneLine(sentenceOf(problem))),
  ]
}

const maxModels = 6
