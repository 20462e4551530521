import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Client } from '@atrium/client/client'
import type { HostInfo } from '@atrium/client/link/handshake'
import { readinessOf } from '@atrium/protocol/root/readiness'
import type { AgentInfo } from '@atrium/protocol/root/state'
import { rootUri } from '@atrium/protocol/uri'
import { requiredLogins } from '../link/logins.ts'
import { unasked } from '../session/unasked.ts'
import { findHost } from '../serve/discovery.ts'
import type { Settings } from '../serve/config-fields.ts'
import { defaultPort } from '../serve/port.ts'
import { CommandError, exits, sentenceOf } from '../terminal/exit.ts'
import { addressOf, connect, isRemote } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { withTimeout } from '../link/with-client.ts'
import { version } from '../terminal/version.ts'
import { onOneLine } from '../terminal/output.ts'
import { automationFindings } from './automations.ts'
import { clientFindings } from './clients.ts'
import { fail, ok, warn } from './finding.ts'
import { pluginFindings } from './plugins.ts'
import { atriumMeta } from './host-meta.ts'
import type { WithMeta } from './host-meta.ts'
import { lossRemedy, storeFindings } from './store.ts'
import type { Finding } from './finding.ts'

/** A host that does not answer in this time hangs. It is long, because the machine may be busy. */
const answerSeconds = 10

/** Checks the running host. If no host runs, checks whether one could start. */
export async function hostFindings(options: HostOptions, settings: Settings): Promise<readonly Finding[]> {
  try {
    if (!isRemote(options) && !(await findHost(settings.data)))
      return [
        warn('host', `none runs with ${settings.data}`, 'start one with: atrium serve'),
        ...(await storeFindings(settings.data)),
        await portFinding(settings),
      ]
  } catch (error) {
    return [fail('host', sentenceOf(error), 'follow the advice in the message')]
  }
  try {
    const client = await withTimeout(answerSeconds, connect(options), 'The host did not answer')
    const { url } = await addressOf(options)
    try {
      const found = [versionFinding(client, url), numbersFinding(client), ...(await agentFindings(client))]
      found.push(...(await automationFindings(client)))
      const told = [...lossFindings(client), ...agentOutputFindings(client), ...clientFindings(client)]
      return [...found, ...told, await clockFinding(url)]
    } finally {
      client.close()
    }
  } catch (error) {
    const isAdvised = error instanceof CommandError && error.exit !== exits.timeout
    const remedy = isAdvised
      ? 'follow the advice in the message'
      : 'read its log where it was started, or restart it'
    return [fail('host', sentenceOf(error), remedy)]
  }
}

/** A client with the host's answer to its handshake. */
type Connected = {
  readonly host: Pick<HostInfo, 'serverInfo' | 'protocolVersion' | 'serverSeq'> | undefined
}

export function versionFinding({ host }: Connected, url: string): Finding {
  const { serverInfo, protocolVersion } = host ?? {}
  const other = serverInfo?.version
  const detail = `${serverInfo?.name ?? 'a host'} ${other ?? ''} at ${withoutQuery(url)}, AHP ${protocolVersion}`
  if (serverInfo?.name !== 'atrium' || other === version) return ok('host', detail)
  return warn(
    'host',
    `${detail}, and this command is ${version}`,
    'restart the host, so that both have the same version',
  )
}

/**
 * Warns if the sequence numbers of the host are far ahead of its clock, which means that the clock was set back. At
 * each start, the host begins its numbers at the time of its clock, in microseconds, or above.
 */
export function numbersFinding({ host }: Connected, now = Date.now()): Finding {
  const ahead = Math.round(((host?.serverSeq ?? 0) / 1000 - now) / 1000)
  if (ahead < 60) return ok('numbers', `the last sequence number is ${host?.serverSeq ?? 0}`)
  return warn(
    'numbers',
    `the sequence numbers are ${ahead} s ahead of the clock`,
    'nothing is lost; set the clock right',
  )
}

async function agentFindings(client: Client): Promise<readonly Finding[]> {
  const { agents } = await client.subscribe('root', rootUri).ready()
  if (agents.length === 0)
    return [
      warn(
        'agents',
        'there are none',
        'the host offers no agent: look for `disabled` in its config, and start it again',
      ),
    ]
  return [...agents.map(agentFinding), ...pluginFindings(agents)]
}

export function agentFinding(agent: AgentInfo): Finding {
  const logins = requiredLogins(agent)
  const { state, problem, actsWithoutAsking } = readinessOf(agent) ?? {}
  const name = onOneLine(agent.provider)
  const detail = `${name}, with ${agent.models.length} models${actsWithoutAsking ? `; it ${unasked}` : ''}`
  if (state === 'broken' || state === 'needs-sign-in')
    return warn('agent', `${name} ${brokenText[state]}: ${onOneLine(problem ?? '')}`, mendOf[state])
  if (logins.length > 0)
    return warn('agent', `${detail}; it wants a login for ${logins.join(', ')}`, 'sign in from a client')
  if (state === 'not-tried')
    return warn('agent', `${name} was never started by this host`, 'try it with: atrium agents --check')
  return ok('agent', detail)
}

const mendOf = {
  broken: 'then: atrium agents --check',
  'needs-sign-in': 'then: atrium agents --check; a new variable needs a restart of the host',
} as const

const brokenText = { broken: 'does not work', 'needs-sign-in': 'needs a sign-in' } as const

/** Shows which confirmed changes the store had lost when the host started. */
function lossFindings(client: WithMeta): readonly Finding[] {
  const { lost } = atriumMeta(client)
  return lost === undefined ? [] : [warn('store', onOneLine(lost), lossRemedy)]
}

/** Shows the last lines that each agent wrote outside of the protocol. They often say why an agent does not work. */
function agentOutputFindings(client: WithMeta): readonly Finding[] {
  return (atriumMeta(client).agents ?? []).map(({ provider = '', lastWords = [] }) =>
    ok(provider, ['its last output:', ...lastWords.map((line) => `  ${onOneLine(line)}`)].join('\n')),
  )
}

/** Returns the clients of the running host, each with the features that its protocol version cannot show. */
export async function connectedClients(options: HostOptions): Promise<readonly Finding[]> {
  const client = await withTimeout(answerSeconds, connect(options), 'The host did not answer')
  try {
    return clientFindings(client, true)
  } finally {
    client.close()
  }
}

/** Compares the clocks. AHP does not transmit the time, so it comes from the Date header of an HTTP response. */
async function clockFinding(url: string): Promise<Finding> {
  const healthUrl = new URL('/healthz', url.replace(/^ws/, 'http'))
  const sentAt = Date.now()
  const response = await fetch(healthUrl, { signal: AbortSignal.timeout(answerSeconds * 1000) }).catch(
    () => undefined,
  )
  const hostTime = Date.parse(response?.headers.get('date') ?? '')
  if (Number.isNaN(hostTime))
    return warn('clock', 'the host does not tell its time', 'compare the clocks by hand')
  // One second and the time of the request are subtracted, because the header has whole seconds and the request took
  // some time.
  const apart = Math.max(0, Math.abs(hostTime - sentAt) - 1_000 - (Date.now() - sentAt))
  const seconds = Math.round(apart / 1000)
  return seconds < 5
    ? ok('clock', 'the host has the same time')
    : warn('clock', `the host is ${seconds} s away from this machine`, 'set both clocks by the network')
}

/** Checks whether the port that `atrium serve` would use is free. */
async function portFinding({ port, socket, data }: Settings): Promise<Finding> {
  if (socket !== undefined) return ok('port', `none; it would listen on ${socket}`)
  const last = Number(await readFile(join(data, 'port'), 'utf8').catch(() => ''))
  const wanted = port ?? (last > 0 && last < 65536 ? last : defaultPort)
  const free = await isFree(wanted)
  if (free) return ok('port', `${wanted} is free`)
  return port === undefined
    ? warn(
        'port',
        `${wanted} is taken by another program`,
        'atrium serve would use another one; or name one with --port',
      )
    : fail('port', `${wanted} is taken by another program`, 'choose another with --port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function withoutQuery(url: string): string {
  const address = new URL(url)
  address.search = ''
  return address.href
}
